"""The page's figures fit for a paper: SVG, PNG and PDF of one column's width."""
