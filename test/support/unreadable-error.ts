const trap = (): never => {
  throw new Error('a trap')
}

/** An error of which nothing can be read, not even its class. A promise may reject with it, because it has no `then`. */
export const UNREADABLE = new Proxy(new Error('unreadable'), {
  get: (_target, key) => (key === 'then' ? undefined : trap()),
  has: trap,
  getPrototypeOf: trap,
  ownKeys: trap,
  getOwnPropertyDescriptor: trap,
})
