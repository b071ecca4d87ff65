/**
 * An object without inherited keys, so that `constructor` or `__proto__` in a request is an ordinary key. Unlike
 * `Object.create(null)`, an instance stays in V8's fast mode, which makes reading it cheaper.
 */
export const OwnObject = function OwnObject() {} as unknown as new () => Record<string, unknown>
OwnObject.prototype = Object.freeze(Object.create(null)) as Record<string, unknown>
