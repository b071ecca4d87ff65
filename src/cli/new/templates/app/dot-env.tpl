# Settings of this machine; git ignores this file. .env.example lists all settings.
// #if basic

# Signs sessions. Keep it secret; changing it signs everybody out.
AUTH_SECRET={{secret}}
// #end
// #if server

DATABASE_URL={{serverUrl}}/{{database}}
// #end
