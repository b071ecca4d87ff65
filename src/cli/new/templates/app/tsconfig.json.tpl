{
  "compilerOptions": {
    "target": "ES2022",
    "lib": ["ES2023", "DOM.AsyncIterable"],
    "module": "NodeNext",
    "moduleResolution": "NodeNext",
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "exactOptionalPropertyTypes": true,
    "noImplicitOverride": true,
    "verbatimModuleSyntax": true,
    "erasableSyntaxOnly": true,
    "allowImportingTsExtensions": true,
    "rewriteRelativeImportExtensions": true,
    "skipLibCheck": true,
    "noEmit": true,
    "types": ["node", "mocha"]
  },
  "exclude": ["node_modules", "dist", "dist.new", ".framework"]
}
