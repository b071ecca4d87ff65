{
  "version": "0.2.0",
  "configurations": [
    {
      "name": "{{title}}",
      "type": "node",
      "request": "launch",
      "runtimeArgs": ["--import", "tsx"],
      "program": "${workspaceFolder}/server.ts",
      "skipFiles": ["<node_internals>/**", "**/node_modules/**"]
    }
  ]
}
