import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { client, scope } from '../cast'
import { formPost, get, jsonOf, wrong, type Connection, type Fields, type Stories } from '../story'

// A proof is good once, so that each request gets a new one. The client signs it in the process of the server: each
// figure holds one signature of the client, of every server alike.
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const origin = 'http://127.0.0.1'
const partOf = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const header = partOf({ typ: 'dpop+jwt', alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) })
const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const

function proof(htm: string, path: string, ofToken: object = {}): Fields {
  const iat = Math.floor(Date.now() / 1000)
  const text = `${header}.${partOf({ htm, htu: origin + path, iat, jti: randomUUID(), ...ofToken })}`
  return { DPoP: `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}` }
}

const Authorization = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`

async function boundToken(connection: Connection): Promise<string> {
  const fields = { grant_type: 'client_credentials', scope }
  const answer = await connection.ask(
    formPost('/token', fields, { Authorization, ...proof('POST', '/token') }),
  )
  const { access_token, token_type } = answer.status === 200 ? jsonOf(answer) : {}
  if (typeof access_token !== 'string' || token_type !== 'DPoP') throw wrong(answer)
  return access_token
}

/** With access tokens that are bound to a key (RFC 9449): a proof at issue, and one at the guard. */
export const bound: Stories = {
  clientCredentials: async (connection) => async () => void (await boundToken(connection)),
  guard: async (connection) => {
    const token = await boundToken(connection)
    const ath = createHash('sha256').update(token).digest('base64url')
    return async () => {
      const headers = { Authorization: `DPoP ${token}`, ...proof('GET', '/photos', { ath }) }
      const answer = await connection.ask(get('/photos', headers))
      if (answer.status !== 200 || answer.body !== '{"photos":[]}') throw wrong(answer)
    }
  },
}
