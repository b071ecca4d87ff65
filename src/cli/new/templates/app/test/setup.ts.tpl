// Before any test imports the application: a database in memory and, where there are passwords, cheap hashes.
process.env['NODE_ENV'] = 'test'
