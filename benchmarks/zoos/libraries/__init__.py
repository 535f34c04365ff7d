"""Models of five libraries that have their own folder of packages: see `install`."""
