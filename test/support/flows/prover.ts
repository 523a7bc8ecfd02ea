import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import type { Response } from 'supertest'
import { photoBook } from './clients'
import type { Flow } from './flow'

const { client_id } = photoBook.registration
const issuer = 'http://localhost'
const partOf = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A client with a key, which sends a proof with each request, and again with a nonce that the server asks for. */
export class Prover {
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly jwk = this.keys.publicKey.export({ format: 'jwk' })
  nonce: string | undefined

  constructor(private readonly now: () => number) {}

  proof(htm: string, path: string, claims: object = {}): string {
    const { kty, crv, x, y } = this.jwk
    const own = {
      htm,
      htu: issuer + path,
      iat: Math.floor(this.now() / 1000),
      jti: randomUUID(),
      nonce: this.nonce,
    }
    const text = `${partOf({ typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } })}.${partOf({ ...own, ...claims })}`
    const key = { key: this.keys.privateKey, dsaEncoding: 'ieee-p1363' } as const
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
  }

  async send(ask: (dpop: string) => Promise<Response>, prove: () => string): Promise<Response> {
    const answer = await ask(prove())
    this.nonce = answer.get('DPoP-Nonce') ?? this.nonce
    return answer.body.error === 'use_dpop_nonce' ? ask(prove()) : answer
  }

  async tokens(flow: Flow, fields: Record<string, string | undefined>): Promise<Response> {
    const ask = (DPoP: string) => flow.submit('/token', { client_id, ...fields }, undefined, { DPoP })
    return this.send(ask, () => this.proof('POST', '/token'))
  }

  async photos(flow: Flow, token: string, claims: object = {}): Promise<Response> {
    const ath = createHash('sha256').update(token).digest('base64url')
    const ask = (DPoP: string) => flow.open('/photos', undefined, { DPoP, Authorization: `DPoP ${token}` })
    return this.send(ask, () => this.proof('GET', '/photos', { ath, ...claims }))
  }
}
