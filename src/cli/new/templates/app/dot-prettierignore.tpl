# #if format
dist/
.framework/
coverage/
data/
migrations/
generated/
openapi.json
{{lockfile}}
# #end
