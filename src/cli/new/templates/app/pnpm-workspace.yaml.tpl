# #if pnpm
# The packages whose install scripts may run.
allowBuilds:
{{builds}}
# #end
