# #if format
dist/
.framework/
coverage/
data/
migrations/
{{lockfile}}
# #end
