"""A canonical form of graphs: rules see one of the many ways to write a program."""
