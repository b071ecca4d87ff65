# #if docker
.git
.github
.vscode
.framework
node_modules
dist
data
coverage
test
.env
.env.*
*.log
# #end
# #if dockeryarn
.yarn
# #end
