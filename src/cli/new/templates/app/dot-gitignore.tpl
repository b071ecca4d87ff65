node_modules/
dist/
.framework/
data/
.env
.env.*
!.env.example
*.log
