# {{run}} migrate {{dashes}}generate 'add books' writes the first migration here.
