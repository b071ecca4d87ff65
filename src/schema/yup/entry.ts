/**
 * yup, in the version that Mortar uses. In the built package it is loaded by `require`: an `import` of a CommonJS package
 * makes Node 20 and 22 compile a lexer for export names, which costs a tenth of an application's start.
 */
export * from 'yup'
