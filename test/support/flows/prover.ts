import {
  constants,
  createHash,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto'
import type { Response } from 'supertest'
import { type KeyPair, rsaKeyPair } from '../rsa-keys'
import { type ClientApplication, photoBook } from './clients'
import { basic, type Fields, type Flow, type Headers } from './flow'

const partOf = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

const withSalt = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
}
const curve = (namedCurve: string, hash: string) => ({
  make: () => generateKeyPairSync('ec', { namedCurve }),
  hash,
  form: { dsaEncoding: 'ieee-p1363' as const },
})
let rsaKeys: KeyPair | undefined
const rsa = (hash: string, form: object = {}) => ({
  make: () => (rsaKeys ??= rsaKeyPair()),
  hash,
  form,
})
const edwards = { make: () => generateKeyPairSync('ed25519'), hash: undefined, form: {} }

/** The algorithms of RFC 7518 and RFC 8037 with private keys. */
const proverAlgorithms = {
  ES256: curve('P-256', 'sha256'),
  ES384: curve('P-384', 'sha384'),
  ES512: curve('P-521', 'sha512'),
  EdDSA: edwards,
  Ed25519: edwards,
  PS256: rsa('sha256', withSalt),
  PS384: rsa('sha384', withSalt),
  PS512: rsa('sha512', withSalt),
  RS256: rsa('sha256'),
  RS384: rsa('sha384'),
  RS512: rsa('sha512'),
}

type ProverAlgorithm = keyof typeof proverAlgorithms

const isAlgorithm = (name: string): name is ProverAlgorithm => Object.hasOwn(proverAlgorithms, name)

/** Their names. */
export const proverNames = Object.keys(proverAlgorithms).filter(isAlgorithm)

/** A client with a key, which sends a proof with each request, and again with a nonce that the server asks for. */
export class Prover {
  private readonly keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }
  readonly jwk: JsonWebKey
  nonce: string | undefined

  constructor(
    private readonly now: () => number,
    private readonly origin = 'http://localhost',
    private readonly algorithm: ProverAlgorithm = 'ES256',
  ) {
    this.keys = proverAlgorithms[algorithm].make()
    this.jwk = this.keys.publicKey.export({ format: 'jwk' })
  }

  /** The private key, as a client must never send it. */
  get privateJwk(): JsonWebKey {
    return this.keys.privateKey.export({ format: 'jwk' })
  }

  /** The JWK SHA-256 thumbprint (RFC 7638). */
  get thumbprint(): string {
    const members = Object.entries(this.jwk).toSorted(([one], [other]) => (one < other ? -1 : 1))
    return createHash('sha256')
      .update(JSON.stringify(Object.fromEntries(members)))
      .digest('base64url')
  }

  /** A good proof, whose claims and header a test may bend. */
  proof(htm: string, path: string, claims: object = {}, header: object = {}): string {
    const { now, nonce, algorithm, jwk } = this
    const own = { htm, htu: this.origin + path, iat: Math.floor(now() / 1000), jti: randomUUID(), nonce }
    return this.sign({ typ: 'dpop+jwt', alg: algorithm, jwk, ...header }, { ...own, ...claims })
  }

  /** Signs any header and claims. */
  sign(header: object, claims: object): string {
    const text = `${partOf(header)}.${partOf(claims)}`
    const { hash, form } = proverAlgorithms[this.algorithm]
    return `${text}.${sign(hash, Buffer.from(text), { ...form, key: this.keys.privateKey }).toString('base64url')}`
  }

  /** Sends a request with its proof, and once more if the server asks for a nonce. */
  async send(ask: (dpop: string) => Promise<Response>, prove: () => string): Promise<Response> {
    const answer = await ask(prove())
    this.nonce = answer.get('DPoP-Nonce') ?? this.nonce
    return answer.body.error === 'use_dpop_nonce' ? ask(prove()) : answer
  }

  /** A token request, or a request with a form to another endpoint. */
  async tokens(
    flow: Flow,
    fields: Fields,
    client: ClientApplication = photoBook,
    path = '/token',
  ): Promise<Response> {
    const { headers, form } = identified(client, fields)
    const ask = (DPoP: string) => flow.submit(path, form, undefined, { ...headers, DPoP })
    return this.send(ask, () => this.proof('POST', path))
  }

  /** A request with an access token. */
  async call(flow: Flow, token: string, path = '/photos', claims: object = {}): Promise<Response> {
    const ask = (DPoP: string) => flow.open(path, undefined, { DPoP, Authorization: `DPoP ${token}` })
    return this.send(ask, () => this.proof('GET', path, { ath: hashOf(token), ...claims }))
  }
}

function identified({ registration: { client_id }, secret }: ClientApplication, fields: Fields) {
  const headers: Headers = secret === undefined ? {} : { Authorization: basic(client_id, secret) }
  return { headers, form: secret === undefined ? { client_id, ...fields } : fields }
}

/** `ath` of a proof for this token. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url')
