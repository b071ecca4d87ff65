# #if yarn
# Plug'n'Play has no folder node_modules, in which the framework looks for packages.
nodeLinker: node-modules
# #end
