// Export the tables of the application from here: one `typeorm.EntitySchema` of @mortar/database for each. Then generate a migration:
// {{run}} migrate {{dashes}}generate 'add books'
export {}
