node_modules/
dist/
dist.new/
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
