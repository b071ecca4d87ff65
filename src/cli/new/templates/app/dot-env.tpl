# What this machine needs; git ignores it. .env.example has everything that can be set.
// #if basic

# Signs sessions. Keep it secret; changing it signs everybody out.
AUTH_SECRET={{secret}}
// #end
// #if postgres

DATABASE_URL=postgres://postgres:postgres@localhost:5432/{{database}}
// #end
