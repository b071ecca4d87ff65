import { Conflict, NotFound } from 'mortar'

/** 409 for a passkey that is stored already. */
export function passkeyExists(): Conflict {
  return new Conflict('This passkey is in use already.', { code: 'passkey_exists' })
}

/** 404 of the end of a passkey that the user does not have. */
export function unknownPasskey(): NotFound {
  return new NotFound('You have no such passkey.', { code: 'unknown_passkey' })
}
