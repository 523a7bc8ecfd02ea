import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:https'
import type { Express } from 'express'
import type { ClientAuthenticationMethod, ClientCertificate, ClientRegistration } from '../../lib/index'
import { otherCertificate, ownCertificate } from '../support/flows/certificates'
import { describeOnStores } from '../support/flows/stores-of-run'
import { basic, formOf, type Fields, type Headers } from '../support/flows/flow'

/** RFC 8705 2.2, as a host would add it: the registration keeps the fingerprint of the client's certificate. */
const selfSigned: ClientAuthenticationMethod = {
  name: 'self_signed_tls_client_auth',
  read({ certificate, authorization, body }) {
    // A certificate says nothing of the client: without client_id, or beside another method, it is not used.
    const clientId = body.get('client_id')
    if (certificate === undefined || clientId === undefined || authorization.length > 0) return undefined
    return { clientId, credential: certificate.x509.fingerprint256 }
  },
  verify: async (client, fingerprint) => client?.credentials[selfSigned.name] === fingerprint,
}

const bank: ClientRegistration = {
  client_id: 'bank',
  client_type: 'confidential',
  credentials: { [selfSigned.name]: new X509Certificate(ownCertificate.cert).fingerprint256 },
  grant_types: ['client_credentials'],
  scope: 'photos:read',
}
const options = {
  issuer: 'https://photos.example',
  clients: [bank],
  clientAuthenticationMethods: [selfSigned],
}
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

/** A token request over TLS, with or without a certificate of the client; the server may trust one. */
async function ask(
  app: Express,
  fields: Fields,
  client: object = {},
  { headers = {}, ca = [] as string[] }: { headers?: Headers; ca?: string[] } = {},
): Promise<number> {
  const server = createServer({ ...otherCertificate, ca, requestCert: true, rejectUnauthorized: false }, app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('It listens on no port.')
  try {
    const sent = request({
      ...client,
      port: address.port,
      host: '127.0.0.1',
      path: '/token',
      method: 'POST',
      rejectUnauthorized: false,
      agent: false,
      headers: { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' },
    }).end(formOf({ ...grant, ...fields }))
    const [response] = await once(sent, 'response')
    response.resume()
    return response.statusCode
  } finally {
    server.close()
  }
}

describeOnStores('A method by the certificate of the connection', (stage) => {
  test('[CAU-5] proves the client that has it, and no other', async () => {
    const { app } = stage(options)
    expect(await ask(app, { client_id: 'bank' }, ownCertificate)).toBe(200)
    expect(await ask(app, { client_id: 'bank' }, otherCertificate)).toBe(401)
    expect(await ask(app, { client_id: 'nobody' }, ownCertificate)).toBe(401)
    expect(await ask(app, { client_id: 'bank' })).toBe(401)
    expect(await ask(app, {}, ownCertificate)).toBe(401)
  })

  test('[CAU-2] is not used beside another one', async () => {
    const { app } = stage(options)
    const fields = { client_id: 'bank', client_secret: 'x' }
    expect(await ask(app, fields, ownCertificate)).toBe(400)
    const headers = { Authorization: basic('bank', 'x') }
    expect(await ask(app, { client_id: 'bank' }, ownCertificate, { headers })).toBe(401)
  })

  test('takes no header for a certificate [client-29]', async () => {
    const headers = { 'X-Client-Cert': ownCertificate.cert.replaceAll('\n', ''), 'Client-Cert': 'x' }
    expect(await ask(stage(options).app, { client_id: 'bank' }, {}, { headers })).toBe(401)
  })

  test.each([
    ['one that the TLS server trusts', [ownCertificate.cert], true],
    ['one that nobody vouches for', [], false],
  ])('is told of %s', async (_, ca, trusted) => {
    const seen: (ClientCertificate | undefined)[] = []
    const watching: ClientAuthenticationMethod = {
      ...selfSigned,
      read(sources) {
        seen.push(sources.certificate)
        return selfSigned.read(sources)
      },
    }
    const { app } = stage({ ...options, clientAuthenticationMethods: [watching] })
    expect(await ask(app, { client_id: 'bank' }, ownCertificate, { ca })).toBe(200)
    expect(seen).toEqual([{ x509: expect.any(X509Certificate), trusted }])
  })
})
