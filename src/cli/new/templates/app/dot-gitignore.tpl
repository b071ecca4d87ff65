node_modules/
dist/
dist.new/
dist.replaced/
.framework/
coverage/
data/
.env
.env.*
!.env.example
*.log
# #if yarn
.yarn/
# #end
