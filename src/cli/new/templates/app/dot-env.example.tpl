# What {{name}} reads from its environment. Copy this file to .env, which git ignores.

# Only this machine reaches 127.0.0.1; in production the default is every address.
#PORT=3000
#HOST=127.0.0.1
#NODE_ENV=development

# trace, debug, info, warn, error, fatal or silent; by default debug, and info in production.
#LOG_LEVEL=debug

# Addresses or ranges of the proxies in front, separated by commas.
#TRUST_PROXY=
// #if server

# Tests take an SQLite database in memory, unless this names an empty one of its own.
#TEST_DATABASE_URL={{serverUrl}}/{{database}}_test
// #end
// #if !basic

# The public address of the application. Production needs one.
#APP_URL=http://localhost:3000
// #end
