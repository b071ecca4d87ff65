// #if lint
{
  "$schema": "./node_modules/oxlint/configuration_schema.json",
  "plugins": ["typescript", "unicorn", "oxc", "import", "promise"],
  "options": { "typeAware": true, "denyWarnings": true },
  "env": { "node": true, "es2022": true },
  "categories": { "correctness": "error", "suspicious": "error" },
  "ignorePatterns": ["dist", ".framework", "coverage", "data", "migrations", "generated"],
  "rules": {
    "eslint/eqeqeq": "error",
    "eslint/no-console": "error",
    "eslint/no-shadow": "off",
    "import/no-empty-named-blocks": "off",
    "typescript/consistent-type-imports": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-misused-promises": "error",
    "typescript/no-unsafe-type-assertion": "off",
    "unicorn/consistent-function-scoping": "off",
    "unicorn/require-module-specifiers": "off"
  },
  "overrides": [
    {
      "files": ["test/**"],
      "rules": { "eslint/no-unused-expressions": "off" }
    }
  ]
}
// #end
