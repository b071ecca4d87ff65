/** The mode an application runs in, from `NODE_ENV`; anything that is not `production` or `test` is `development`. */
export type Environment = 'development' | 'test' | 'production'
