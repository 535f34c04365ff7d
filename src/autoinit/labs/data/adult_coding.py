"""The columns of Adult, and the numbers that stand for their categories in PMLB's edition.

Categories are numbered in alphabetical order; an unknown value, '?', is a category of its own (number 0). The target
is 1 for an income of at most $50,000 a year, 0 for more.
"""

from __future__ import annotations

COLUMNS: dict[str, tuple[str, ...]] = {
    "age": (),
    "workclass": ("?", "Federal-gov", "Local-gov", "Never-worked", "Private", "Self-emp-inc", "Self-emp-not-inc",
                  "State-gov", "Without-pay"),
    "fnlwgt": (),
    "education": ("10th", "11th", "12th", "1st-4th", "5th-6th", "7th-8th", "9th", "Assoc-acdm", "Assoc-voc",
                  "Bachelors", "Doctorate", "HS-grad", "Masters", "Preschool", "Prof-school", "Some-college"),
    "education-num": (),
    "marital-status": ("Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent", "Never-married",
                       "Separated", "Widowed"),
    "occupation": ("?", "Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing",
                   "Handlers-cleaners", "Machine-op-inspct", "Other-service", "Priv-house-serv", "Prof-specialty",
                   "Protective-serv", "Sales", "Tech-support", "Transport-moving"),
    "relationship": ("Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"),
    "race": ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"),
    "sex": ("Female", "Male"),
    "capital-gain": (),
    "capital-loss": (),
    "hours-per-week": (),
    "native-country": ("?", "Cambodia", "Canada", "China", "Columbia", "Cuba", "Dominican-Republic", "Ecuador",
                       "El-Salvador", "England", "France", "Germany", "Greece", "Guatemala", "Haiti",
                       "Holand-Netherlands", "Honduras", "Hong", "Hungary", "India", "Iran", "Ireland", "Italy",
                       "Jamaica", "Japan", "Laos", "Mexico", "Nicaragua", "Outlying-US(Guam-USVI-etc)", "Peru",
                       "Philippines", "Poland", "Portugal", "Puerto-Rico", "Scotland", "South", "Taiwan", "Thailand",
                       "Trinadad&Tobago", "United-States", "Vietnam", "Yugoslavia"),
}  # fmt: skip
TARGET = "target"
CLASSES = (">50K", "<=50K")
