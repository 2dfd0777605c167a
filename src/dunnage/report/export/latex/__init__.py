"""A table as plain LaTeX that needs no package and fits the lines and pages of an article."""
