# What {{name}} reads from its environment. Copy this file to .env, which git ignores.
// #if basic

# At least 32 random bytes: openssl rand -base64 32
AUTH_SECRET=
// #end
// #if sqlite

#DATABASE_URL=sqlite:data/app.db
// #end
// #if postgres

DATABASE_URL=postgres://user:password@localhost:5432/{{database}}
# Tests take an SQLite database in memory, unless this names an empty one of its own.
#TEST_DATABASE_URL=postgres://user:password@localhost:5432/{{database}}_test
// #end

# Only this machine reaches 127.0.0.1; in production the default is 0.0.0.0.
#PORT=3000
#HOST=127.0.0.1
#NODE_ENV=development

# trace, debug, info, warn, error, fatal or silent; by default debug, and info in production.
#LOG_LEVEL=debug

# The public address of the application; links in mails begin with it.
// #if basic
# Production needs one.
// #end
#APP_URL=http://localhost:3000
// #if basic

# terminal, memory, sendmail, or smtp://user:password@mail.example.com:587; production needs one.
#MAIL_TRANSPORT=terminal
#MAIL_FROM={{title}} <hello@example.com>
// #end

# Addresses or ranges of the proxies in front, separated by commas.
#TRUST_PROXY=
