import type { Express } from 'express'
import { randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:https'
import { apiKey, optionsWith } from '../../docs/examples/api-key'
import {
  type ClientAuthenticationMethod,
  type ClientCertificate,
  type ClientRegistration,
  ConfigurationError,
  invalidRequest,
} from '../../lib/index'
import { otherCertificate, ownCertificate } from '../support/flows/certificates'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { basic, type Fields, formOf, type Headers } from '../support/flows/flow'
import { rawRequest } from '../support/flows/raw-request'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { expectUncachedJson, refusalOf, tokensOf } from '../support/flows/tokens'

describe('client authentication methods', () => {
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

  /** `Authorization: Sealed <client_id>:<wax>`, or the same in the parameter `seal`. */
  const sealed: ClientAuthenticationMethod = {
    name: 'sealed',
    scheme: 'Sealed',
    read({ authorization: [header] }) {
      const [, clientId, credential] = /^Sealed ([^:]*):(.*)$/i.exec(header ?? '') ?? []
      return clientId === undefined || credential === undefined ? undefined : { clientId, credential }
    },
    verify: async (client, credential) => client?.credentials['sealed'] === credential,
  }
  const stamped: ClientAuthenticationMethod = {
    name: 'stamped',
    read({ body }) {
      const credential = body.get('stamp')
      return credential === undefined ? undefined : { clientId: body.require('client_id'), credential }
    },
    verify: async (client, credential) => client?.credentials['stamped'] === credential,
  }

  const watch: ClientRegistration = {
    client_id: 'watch',
    client_type: 'confidential',
    credentials: { sealed: 'red', stamped: 'blue' },
    grant_types: ['client_credentials'],
    scope: 'photos:read',
  }
  const other: ClientRegistration = { ...watch, client_id: 'other', credentials: { sealed: 'green' } }
  const clients = [watch, other, nightlyReport.registration, photoBook.registration]
  const methods = [sealed, stamped]
  const { client_id } = nightlyReport.registration
  const client_secret = nightlyReport.secret
  const Authorization = basic(client_id, client_secret)
  const seal = (clientId: string, wax: string) => ({ Authorization: `Sealed ${clientId}:${wax}` })

  const host = (stage: SetStage, bend: Partial<ClientAuthenticationMethod> = {}) =>
    stage({
      clients,
      plugins: [{ name: 'host-methods', clientAuthenticationMethods: [{ ...sealed, ...bend }, stamped] }],
    })

  const refusing = () => {
    throw invalidRequest('seal_broken', 'The seal is broken.')
  }
  const returning = (value: unknown) => ({ read: () => JSON.parse(JSON.stringify(value)) })

  describeOnStores('A method of the host', (stage) => {
    test.each<[string, Fields, Headers]>([
      ['its scheme', {}, seal('watch', 'red')],
      ['its scheme in other case', {}, { Authorization: 'SEALED watch:red' }],
      ['its scheme beside the same client_id', { client_id: 'watch' }, seal('watch', 'red')],
      ['the body', { client_id: 'watch', stamp: 'blue' }, {}],
    ])('proves a client by %s', async (_, fields, headers) => {
      const { flow } = host(stage)
      const { accessToken } = tokensOf(
        await flow.submit('/token', { ...grant, ...fields }, undefined, headers),
      )
      expect((await flow.photos(accessToken)).status).toBe(200)
    })

    test.each<[string, Fields, Headers, string]>([
      ["another client's key", {}, seal('watch', 'green'), '401 invalid_client'],
      ['an unknown client', {}, seal('nobody', 'red'), '401 invalid_client'],
      ['an empty key', {}, seal('watch', ''), '401 invalid_client'],
      [
        'its scheme and nothing, as a public client',
        { client_id: 'photo-book' },
        { Authorization: 'Sealed' },
        '401 invalid_client',
      ],
      [
        'a method for which it has no entry',
        { client_id: 'other', stamp: 'undefined' },
        {},
        '401 invalid_client',
      ],
      ['another client_id', { client_id: 'other' }, seal('watch', 'red'), '400 invalid_request'],
      [
        'Basic without a password too',
        { client_id: 'watch', stamp: 'blue' },
        { Authorization: basic('watch', '') },
        '400 invalid_request',
      ],
      [
        'an unknown scheme too',
        { client_id: 'watch', stamp: 'blue' },
        { Authorization: 'Digest a="b"' },
        '400 invalid_request',
      ],
      ['a body without a client_id', { stamp: 'blue' }, {}, '400 invalid_request'],
    ])('refuses %s', async (_, fields, headers, refusal) => {
      const { flow } = host(stage)
      expect(refusalOf(await flow.submit('/token', { ...grant, ...fields }, undefined, headers))).toBe(
        refusal,
      )
    })

    test.each([
      ['twice', 'Sealed watch:red', 'Sealed watch:red'],
      ['beside Basic', 'Sealed watch:red', Authorization],
    ])('refuses its header %s', async (_, first, second) => {
      const headers = ['Content-Type', 'application/x-www-form-urlencoded']
      const response = await rawRequest(host(stage).app, {
        method: 'POST',
        path: '/token',
        headers: [...headers, 'Authorization', first, 'Authorization', second],
        body: new URLSearchParams(grant).toString(),
      })
      expect([response.status, JSON.parse(response.text).error]).toEqual([400, 'invalid_request'])
    })

    test('answers an empty key and an unknown client alike', async () => {
      const { flow } = host(stage)
      const [wrong, stranger] = [
        await flow.submit('/token', grant, undefined, seal('watch', '')),
        await flow.submit('/token', grant, undefined, seal('nobody', '')),
      ]
      expect([stranger.status, stranger.text]).toEqual([wrong.status, wrong.text])
      for (const { headers } of [wrong, stranger])
        expect(headers['www-authenticate']).toBe('Sealed realm="oauth"')
    })

    test.each<[string, Partial<ClientAuthenticationMethod>]>([
      ['a verify that rejects', { verify: () => Promise.reject(new TypeError('the key is red')) }],
      ['a claim without a client', returning({ credential: 'red' })],
      ['a credential that is no text', returning({ clientId: 'watch', credential: 7 })],
      ['a claim that is null', returning(null)],
    ])('that is broken, with %s, is a server_error without detail', async (_, bend) => {
      const { flow, failures } = host(stage, bend)
      const response = await flow.submit('/token', grant, undefined, seal('watch', 'red'))
      expect(response.status).toBe(500)
      expectUncachedJson(response)
      expect(response.body).toEqual({
        error: 'server_error',
        error_description: 'The server met an unexpected condition.',
      })
      expect(failures).toMatchObject([{ reason: 'unexpected', cause: expect.any(TypeError) }])
    })

    test('refuses with its own OAuthError', async () => {
      const { flow, failures } = host(stage, { read: refusing })
      const response = await flow.submit('/token', grant, undefined, seal('watch', 'red'))
      expect(refusalOf(response)).toBe('400 invalid_request')
      expect(response.body.error_description).toBe('The seal is broken.')
      expect(failures).toMatchObject([{ reason: 'seal_broken', cause: undefined }])
    })

    test('is good at the revocation and the introspection endpoint, too', async () => {
      const asking = { ...watch, may_introspect: true }
      const { flow } = stage({
        clients: [asking],
        plugins: [{ name: 'host-methods', clientAuthenticationMethods: methods }],
      })
      const { accessToken: token } = tokensOf(
        await flow.submit('/token', grant, undefined, seal('watch', 'red')),
      )
      const about = async () =>
        (await flow.submit('/introspect', { token }, undefined, seal('watch', 'red'))).body
      expect(await about()).toMatchObject({ active: true, client_id: 'watch' })
      expect(refusalOf(await flow.submit('/revoke', { token }, undefined, seal('watch', 'blue')))).toBe(
        '401 invalid_client',
      )
      expect((await flow.submit('/revoke', { token }, undefined, seal('watch', 'red'))).status).toBe(200)
      expect(await about()).toEqual({ active: false })
    })

    test('works with a store of clients, whose registrations are held to the same rules', async () => {
      const rows: Record<string, unknown> = {
        watch,
        faulty: { ...watch, client_id: 'faulty', credentials: { x: 1 } },
      }
      const find = async (id: string) => JSON.parse(JSON.stringify(rows[id] ?? null))
      const { flow, failures } = stage({
        clients: { find },
        plugins: [{ name: 'host-methods', clientAuthenticationMethods: methods }],
      })
      tokensOf(await flow.submit('/token', grant, undefined, seal('watch', 'red')))
      expect((await flow.submit('/token', grant, undefined, seal('faulty', 'red'))).status).toBe(500)
      expect(failures).toMatchObject([{ cause: { issues: [{ path: 'registration.credentials.x' }] } }])
    })
  })
})

describe('api key', () => {
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
  const key = randomBytes(32).toString('base64url')
  const anotherKey = randomBytes(32).toString('base64url')
  const options = optionsWith(key)

  describeOnStores('The method of docs/examples/api-key.ts', (stage) => {
    test.each([`ApiKey robot.${key}`, `apikey  robot.${key}`])('takes the key of a client', async (sent) => {
      const { flow } = stage(options)
      const { accessToken } = tokensOf(await flow.submit('/token', grant, undefined, { Authorization: sent }))
      expect((await flow.photos(accessToken)).body).toMatchObject({ clientId: 'robot' })
    })

    test.each([
      ['a wrong key', `ApiKey robot.${anotherKey}`],
      ['an unknown client', `ApiKey nobody.${key}`],
      ['nothing', 'ApiKey'],
      ['more than a key', `ApiKey robot.${key} x`],
    ])('refuses %s by a challenge of its own scheme', async (_, Authorization) => {
      const response = await stage(options).flow.submit('/token', grant, undefined, { Authorization })
      expect(refusalOf(response)).toBe('401 invalid_client')
      expect(response.get('WWW-Authenticate')).toBe('ApiKey realm="oauth"')
    })

    test('keeps a digest, and takes nothing else for one', () => {
      const [client] = options.clients
      expect(JSON.stringify(client)).not.toContain(key)
      for (const wrong of [key, 7, ['x']])
        expect(() =>
          stage({ ...options, clients: [{ ...client!, credentials: { [apiKey.name]: wrong } }] }),
        ).toThrow(ConfigurationError)
    })
  })
})

describe('client certificate', () => {
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
    plugins: [{ name: 'host-methods', clientAuthenticationMethods: [selfSigned] }],
  }
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

  /** A token request over TLS, with or without a certificate of the client; the server may trust one. */
  async function ask(
    app: Express,
    fields: Fields,
    client: object = {},
    { headers = {}, ca = [] as string[] }: { headers?: Headers; ca?: string[] } = {},
  ): Promise<number> {
    const server = createServer(
      { ...otherCertificate, ca, requestCert: true, rejectUnauthorized: false },
      app,
    )
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
    test('proves the client that has it, and no other', async () => {
      const { app } = stage(options)
      expect(await ask(app, { client_id: 'bank' }, ownCertificate)).toBe(200)
      expect(await ask(app, { client_id: 'bank' }, otherCertificate)).toBe(401)
      expect(await ask(app, { client_id: 'nobody' }, ownCertificate)).toBe(401)
      expect(await ask(app, { client_id: 'bank' })).toBe(401)
      expect(await ask(app, {}, ownCertificate)).toBe(401)
    })

    test('is not used beside another one', async () => {
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
      ['one of an unknown authority', [], false],
    ])('gets the certificate of %s', async (_, ca, trusted) => {
      const seen: (ClientCertificate | undefined)[] = []
      const watching: ClientAuthenticationMethod = {
        ...selfSigned,
        read(sources) {
          seen.push(sources.certificate)
          return selfSigned.read(sources)
        },
      }
      const { app } = stage({
        ...options,
        plugins: [{ name: 'host-methods', clientAuthenticationMethods: [watching] }],
      })
      expect(await ask(app, { client_id: 'bank' }, ownCertificate, { ca })).toBe(200)
      expect(seen).toEqual([{ x509: expect.any(X509Certificate), trusted }])
    })
  })
})
