import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { createAccessTokens } from '../../../../plugins/auth/tokens/access-tokens.ts'
import { deriveKeys } from '../../../../plugins/auth/tokens/keys.ts'
import { createRefreshTokens } from '../../../../plugins/auth/tokens/refresh-tokens.ts'
import { createResetTokens } from '../../../../plugins/auth/tokens/single-use-tokens.ts'
import { TestClock } from '../support/clock.ts'

export const SECRET = 'a secret of the application, long enough'
export const OLD_SECRET = 'an older secret of it, long enough as well'
export const ISSUER = 'https://app.example'
export const AUDIENCE = 'https://app.example/api'
const LIFETIME = 900

type Json = Record<string, unknown>

const clock = new TestClock()
const keys = deriveKeys([SECRET, OLD_SECRET])
const key = keys.access[0]!
/** The access tokens under attack. */
export const tokens = createAccessTokens({
  keys,
  issuer: ISSUER,
  audience: AUDIENCE,
  lifetime: LIFETIME,
  clock,
})
/** The present time in seconds. */
export const NOW = clock.now() / 1000
/** A token that must be accepted, so that the attacks prove something. */
export const GENUINE = tokens.sign({ sub: 'ada', sid: 'session', user: { id: 'ada', role: 'user' } }).token
const [HEADER, PAYLOAD, SIGNATURE] = GENUINE.split('.') as [string, string, string]
const HEADER_JSON = JSON.parse(decode(HEADER)) as Json
export const PAYLOAD_JSON = JSON.parse(decode(PAYLOAD)) as Json
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 })

function decode(segment: string): string {
  return Buffer.from(segment, 'base64url').toString()
}

function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}

function mac(input: string, secret: KeyObject | Buffer | string, algorithm = 'sha256'): string {
  return createHmac(algorithm, secret).update(input).digest('base64url')
}

/** A token with these segments, signed with the application's own key: what a stolen oracle or a bug might make. */
function signed(header: unknown, payload: unknown, secret: KeyObject | Buffer | string = key): string {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${mac(input, secret)}`
}

export const withHeader = (changes: Json): string => signed({ ...HEADER_JSON, ...changes }, PAYLOAD_JSON)
export const withClaims = (changes: Json): string =>
  `${signedInput(changes)}.${mac(signedInput(changes), key)}`
const signedInput = (changes: Json): string => `${HEADER}.${encode({ ...PAYLOAD_JSON, ...changes })}`
export const raw = (payload: string): string =>
  `${HEADER}.${encode(payload)}.${mac(`${HEADER}.${encode(payload)}`, key)}`
const without = (claim: string): string => withClaims({ [claim]: undefined })

/** Tokens with a header that the application does not write. */
export const HEADER_ATTACKS: Record<string, string> = {
  'alg none without a signature': `${encode({ ...HEADER_JSON, alg: 'none' })}.${PAYLOAD}.`,
  'alg none with the signature left': `${encode({ ...HEADER_JSON, alg: 'none' })}.${PAYLOAD}.${SIGNATURE}`,
  'alg None': `${encode({ ...HEADER_JSON, alg: 'None' })}.${PAYLOAD}.`,
  'alg nOnE': withHeader({ alg: 'nOnE' }),
  'alg NONE, signed': withHeader({ alg: 'NONE' }),
  'alg missing': withHeader({ alg: undefined }),
  'alg null': withHeader({ alg: null }),
  'alg a list': withHeader({ alg: ['HS256'] }),
  'alg in lower case': withHeader({ alg: 'hs256' }),
  'alg HS384 over the same key': (() => {
    const input = `${encode({ ...HEADER_JSON, alg: 'HS384' })}.${PAYLOAD}`
    return `${input}.${mac(input, key, 'sha384')}`
  })(),
  'alg HS512 by jsonwebtoken over the same key': jwt.sign(PAYLOAD_JSON, key, {
    algorithm: 'HS512',
    header: { ...HEADER_JSON, alg: 'HS512' },
  }),
  'alg RS256 with a key pair of the attacker': jwt.sign(PAYLOAD_JSON, RSA.privateKey, {
    algorithm: 'RS256',
    header: { ...HEADER_JSON, alg: 'RS256' },
  }),
  'a public key as the HMAC secret': signed(
    HEADER_JSON,
    PAYLOAD_JSON,
    createPublicKey(RSA.publicKey.export({ type: 'spki', format: 'pem' })).export({
      type: 'spki',
      format: 'pem',
    }),
  ),
  'typ JWT': withHeader({ typ: 'JWT' }),
  'typ missing': withHeader({ typ: undefined }),
  'typ of another kind of token': withHeader({ typ: 'rt+jwt' }),
  'typ in another case': withHeader({ typ: 'AT+JWT' }),
  'typ with its media type prefix': withHeader({ typ: 'application/at+jwt' }),
  'kid missing': withHeader({ kid: undefined }),
  'kid of no key': withHeader({ kid: 'AAAAAAAAAAA' }),
  'kid of the other key': withHeader({ kid: otherKid() }),
  'kid that walks to a file': withHeader({ kid: '../../../../dev/null' }),
  'kid that walks to a file, signed with nothing': signed(
    { ...HEADER_JSON, kid: '/dev/null' },
    PAYLOAD_JSON,
    '',
  ),
  'kid that injects SQL': withHeader({ kid: "' UNION SELECT 'key' --" }),
  'kid __proto__': signed('{"alg":"HS256","typ":"at+jwt","kid":"__proto__"}', PAYLOAD_JSON),
  'kid constructor': withHeader({ kid: 'constructor' }),
  'kid a number': withHeader({ kid: 0 }),
  'kid a list': withHeader({ kid: [HEADER_JSON.kid] }),
  'kid very long': withHeader({ kid: 'k'.repeat(4000) }),
  'jwk in the header': withHeader({ jwk: { kty: 'oct', k: encode('attacker') } }),
  'jku in the header': withHeader({ jku: 'https://evil.example/keys' }),
  'x5u in the header': withHeader({ x5u: 'https://evil.example/cert' }),
  'x5c in the header': withHeader({ x5c: ['MIIB'] }),
  'crit naming an extension': withHeader({ crit: ['exp'] }),
  'crit empty': withHeader({ crit: [] }),
  'b64 false': withHeader({ b64: false, crit: ['b64'] }),
  'cty JWT (nested)': withHeader({ cty: 'JWT' }),
  'zip DEF': withHeader({ zip: 'DEF' }),
  'the header in another order of keys': signed(
    { typ: 'at+jwt', alg: 'HS256', kid: HEADER_JSON.kid },
    PAYLOAD_JSON,
  ),
  'alg twice, the last one genuine': signed(
    `{"alg":"none","alg":"HS256","typ":"at+jwt","kid":"${String(HEADER_JSON.kid)}"}`,
    PAYLOAD_JSON,
  ),
  'a header that is a list': signed([], PAYLOAD_JSON),
  'a header that is null': signed('null', PAYLOAD_JSON),
  'a header that is not JSON': signed('{', PAYLOAD_JSON),
  'an empty header': `.${PAYLOAD}.${SIGNATURE}`,
}

function otherKid(): unknown {
  const other = createAccessTokens({
    keys: deriveKeys(OLD_SECRET),
    issuer: ISSUER,
    audience: AUDIENCE,
    lifetime: 1,
  })
  return (JSON.parse(decode(other.sign({ sub: 'a', sid: 'b', user: {} }).token.split('.')[0]!)) as Json).kid
}

/** Strings that are not access tokens, and tokens with another signature. */
export const FORM_ATTACKS: Record<string, string> = {
  'an empty token': '',
  'dots alone': '..',
  'one segment': HEADER,
  'two segments': `${HEADER}.${PAYLOAD}`,
  'four segments': `${GENUINE}.${SIGNATURE}`,
  'five segments, as a JWE has': `${GENUINE}.a.b`,
  'an empty signature': `${HEADER}.${PAYLOAD}.`,
  'a signature cut short': GENUINE.slice(0, -1),
  'a signature with one character more': `${GENUINE}A`,
  'a signature of other case': `${HEADER}.${PAYLOAD}.${swapCase(SIGNATURE)}`,
  'a signature of zeros': `${HEADER}.${PAYLOAD}.${'A'.repeat(43)}`,
  'a signature with padding': `${GENUINE}=`,
  'a signature in plain base64': `${HEADER}.${PAYLOAD}.${Buffer.from(SIGNATURE, 'base64url').toString('base64')}`,
  'a signature that decodes to the same bytes': `${HEADER}.${PAYLOAD}.${sameBytes(SIGNATURE)}`,
  'a payload that decodes to the same bytes': `${HEADER}.${PAYLOAD}=.${SIGNATURE}`,
  'something else than a dot in front of the signature': `${HEADER}.${PAYLOAD}!${SIGNATURE}`,
  'nothing in front of the signature': `${HEADER}.${PAYLOAD}${SIGNATURE}`,
  'the signature of another token': `${HEADER}.${encode({ ...PAYLOAD_JSON, sub: 'eve' })}.${SIGNATURE}`,
  'a space in front': ` ${GENUINE}`,
  'a line break behind': `${GENUINE}\n`,
  'a NUL inside': `${HEADER}.${PAYLOAD}\0.${SIGNATURE}`,
  'a homoglyph inside': GENUINE.replace('e', 'е'),
  'the scheme left in front': `Bearer ${GENUINE}`,
  'more than 8 KB': withClaims({ user: { text: 'x'.repeat(8192) } }),
  'a megabyte of dots': '.'.repeat(1_000_000),
  'a token signed with a foreign secret': signed(HEADER_JSON, PAYLOAD_JSON, 'foreign'),
  'a token signed with the secret itself instead of the derived key': signed(
    HEADER_JSON,
    PAYLOAD_JSON,
    SECRET,
  ),
  'a token signed with the key of refresh tokens': signed(HEADER_JSON, PAYLOAD_JSON, keys.refresh[0] ?? ''),
  'a token signed with the key of the limits': signed(HEADER_JSON, PAYLOAD_JSON, keys.limits),
  'a token signed with an empty key': signed(HEADER_JSON, PAYLOAD_JSON, ''),
  'a refresh token': createRefreshTokens({ keys }).issue().token,
  'a reset token': createResetTokens().issue().token,
}

function swapCase(text: string): string {
  return [...text]
    .map((each) => (each === each.toLowerCase() ? each.toUpperCase() : each.toLowerCase()))
    .join('')
}

/** The last character of 43 holds four bits; the two others do not count when it is decoded leniently. */
function sameBytes(signature: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return signature.slice(0, -1) + alphabet[alphabet.indexOf(signature.at(-1)!) ^ 1]
}

/** Tokens that are rightly signed and say something wrong: what a bug or an oracle might sign. */
export const CLAIM_ATTACKS: Record<string, string> = {
  'iss missing': without('iss'),
  'iss of another': withClaims({ iss: 'https://evil.example' }),
  'iss with a slash behind': withClaims({ iss: `${ISSUER}/` }),
  'iss a list': withClaims({ iss: [ISSUER] }),
  'aud missing': without('aud'),
  'aud of another': withClaims({ aud: 'https://other.example' }),
  'aud a list with the right one': withClaims({ aud: [AUDIENCE] }),
  'aud a list of several': withClaims({ aud: ['https://other.example', AUDIENCE] }),
  'aud an object': withClaims({ aud: { 0: AUDIENCE, length: 1 } }),
  'sub missing': without('sub'),
  'sub empty': withClaims({ sub: '' }),
  'sub a number': withClaims({ sub: 1 }),
  'sub an object': withClaims({ sub: { $ne: null } }),
  'sub very long': withClaims({ sub: 'x'.repeat(256) }),
  'sid missing': without('sid'),
  'sid empty': withClaims({ sid: '' }),
  'sid a list': withClaims({ sid: ['session'] }),
  'jti missing': without('jti'),
  'jti a number': withClaims({ jti: 7 }),
  'user missing': without('user'),
  'user null': withClaims({ user: null }),
  'user a list': withClaims({ user: [] }),
  'user a string': withClaims({ user: 'ada' }),
  'exp missing': without('exp'),
  'exp a string': withClaims({ exp: String(NOW + 60) }),
  'exp null': withClaims({ exp: null }),
  'exp infinite': raw(JSON.stringify({ ...PAYLOAD_JSON }).replace(/"exp":\d+/, '"exp":1e999')),
  'exp not whole': withClaims({ exp: NOW + 60.5 }),
  'exp negative': withClaims({ exp: -1 }),
  'exp in milliseconds': withClaims({ exp: 8.64e17 }),
  'exp now': withClaims({ iat: NOW - 10, exp: NOW }),
  'exp before iat': withClaims({ iat: NOW + 4, exp: NOW + 3 }),
  'iat missing': without('iat'),
  'iat a string': withClaims({ iat: String(NOW) }),
  'iat beyond the tolerance ahead': withClaims({ iat: NOW + 121, exp: NOW + 180 }),
  'iat older than the lifetime, exp still ahead': withClaims({ iat: NOW - LIFETIME, exp: NOW + 60 }),
  'iat negative': withClaims({ iat: -1 }),
  'nbf ahead': withClaims({ nbf: NOW + 60 }),
  'nbf a string': withClaims({ nbf: 'now' }),
  'nbf null': withClaims({ nbf: null }),
  'nbf negative': withClaims({ nbf: -1 }),
  'sub longer than 255 characters': withClaims({ sub: 'a'.repeat(256) }),
  'a payload that is a list': raw('[]'),
  'a payload that is null': raw('null'),
  'a payload that is a string': raw('"ada"'),
  'a payload that is a number': raw('1'),
  'a payload that is not JSON': raw('{"sub":"ada"'),
  'an empty payload object': raw('{}'),
  'sub twice, the last one empty': raw(
    JSON.stringify(PAYLOAD_JSON).replace('"sub"', '"sub":"eve","sub":"","x"'),
  ),
  'claims in the prototype alone': raw(`{"__proto__":${JSON.stringify(PAYLOAD_JSON)}}`),
  'a payload of invalid UTF-8 in the issuer': `${HEADER}.${Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]).toString('base64url')}.${SIGNATURE}`,
}
