import type { Request, Response } from 'express'
import request from 'supertest'
import { authorizationRequest, consentTokenIn } from '../support/rooms/consent-form'
import { hostWith } from '../support/rooms/host'
import { answerOf, statusOf } from '../support/rooms/status'

const decision = async (host: ReturnType<typeof hostWith>) => {
  const { text } = await request(host.app).get('/authorize').query(authorizationRequest)
  return { authorization_request: consentTokenIn(text), decision: 'approve' }
}

describe('the authorization endpoint: methods', () => {
  it.each(['head', 'put', 'patch', 'delete', 'options'] as const)('does not act on %s', async (method) => {
    const resourceOwner = jest.fn(() => 'alice')
    const host = hostWith({ resourceOwner })
    const response = await request(host.app)[method]('/authorize').query(authorizationRequest)
    expect(response.status).toBe(405)
    expect(response.headers['allow']).toBe('GET, POST')
    expect(resourceOwner).not.toHaveBeenCalled()
    expect(host.failures).toMatchObject([{ code: 'invalid_request', reason: 'method_not_allowed' }])
  })

  it('takes a request by POST from the body alone (AUZ-2)', async () => {
    const host = hostWith()
    const page = await request(host.app)
      .post('/authorize')
      .type('form')
      .send(authorizationRequest)
      .expect(200)
    expect(consentTokenIn(page.text)).toMatch(/^ar_/)
    expect(
      await statusOf(request(host.app).post('/authorize').query(authorizationRequest).type('form').send({})),
    ).toBe(400)
  })

  it('takes a request by GET from the query alone', async () => {
    expect(
      await statusOf(request(hostWith().app).get('/authorize').type('form').send(authorizationRequest)),
    ).toBe(400)
  })

  it('refuses a body that is no form on a page', async () => {
    const { status, text } = await request(hostWith().app).post('/authorize').send(authorizationRequest)
    expect(status).toBe(400)
    expect(text).toContain('The body must be application/x-www-form-urlencoded in UTF-8.')
  })
})

describe('the authorization endpoint: a decision', () => {
  it.each([undefined, 'same-origin', 'none'])(
    'is taken from a page that the browser calls %s',
    async (site) => {
      const host = hostWith()
      const form = await decision(host)
      const headers = site === undefined ? {} : { 'Sec-Fetch-Site': site }
      const { status } = await request(host.app).post('/authorize').set(headers).type('form').send(form)
      expect(status).toBe(303)
    },
  )

  it.each(['cross-site', 'same-site', '', 'Same-Origin'])(
    'is not taken from a page that the browser calls %j, and stays open',
    async (site) => {
      const host = hostWith()
      const form = await decision(host)
      expect(
        await statusOf(
          request(host.app).post('/authorize').set('Sec-Fetch-Site', site).type('form').send(form),
        ),
      ).toBe(400)
      expect(host.failures).toEqual([expect.objectContaining({ reason: 'decision_cross_site' })])
      expect(await statusOf(request(host.app).post('/authorize').type('form').send(form))).toBe(303)
    },
  )

  it('is not accepted without a logged-in owner: the login may have ended meanwhile', async () => {
    let owner: string | undefined = 'alice'
    const host = hostWith({ resourceOwner: () => owner })
    const form = await decision(host)
    owner = undefined
    expect(await statusOf(request(host.app).post('/authorize').type('form').send(form))).toBe(400)
    expect(host.failures).toEqual([expect.objectContaining({ reason: 'owner_not_logged_in' })])
  })

  it('without an owner leads back to the client, but only from a form of this server', async () => {
    let owner: string | undefined = 'alice'
    const host = hostWith({ resourceOwner: () => owner })
    const form = await decision(host)
    owner = undefined
    const linkAfter = async (token: string) => {
      const sent = request(host.app).post('/authorize').type('form')
      const { text } = await sent.send({ ...form, authorization_request: token })
      expect(text).toContain('You are not signed in any more.')
      return /<div class="actions">\s*<a href="([^"]*)"/.exec(text)?.[1]
    }
    const { authorization_request: token } = form
    expect(await linkAfter(token)).toBe(new URL(authorizationRequest.redirect_uri).origin + '/')
    const forged = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A')
    expect(await linkAfter(forged)).toBeUndefined()
    expect(await linkAfter('ar_')).toBeUndefined()
  })

  it('is not accepted from another owner', async () => {
    let owner = 'alice'
    const host = hostWith({ resourceOwner: () => owner })
    const form = await decision(host)
    owner = 'bob'
    const { status, headers } = await request(host.app).post('/authorize').type('form').send(form)
    expect(status).toBe(400)
    expect(headers).not.toHaveProperty('location')
  })

  it.each([
    ['no decision', { decision: '' }, 'parameter_missing'],
    ['another word', { decision: 'yes' }, 'decision_unknown'],
    ['a word in other case', { decision: 'Approve' }, 'decision_unknown'],
    ['both', { decision: ['approve', 'deny'] }, 'parameter_malformed'],
    ['no consent token', { authorization_request: '' }, 'parameter_missing'],
    ['two handles', { authorization_request: ['a', 'b'] }, 'parameter_malformed'],
  ])('is refused with %s', async (_what, bend, reason) => {
    const host = hostWith()
    const form = { ...(await decision(host)), ...bend }
    expect(await statusOf(request(host.app).post('/authorize').type('form').send(form))).toBe(400)
    expect(host.failures).toEqual([expect.objectContaining({ code: 'invalid_request', reason })])
  })

  it('is a POST: in the query it is a request without a client', async () => {
    const host = hostWith()
    const form = await decision(host)
    expect(await statusOf(request(host.app).get('/authorize').query(form))).toBe(400)
    expect(await statusOf(request(host.app).post('/authorize').type('form').send(form))).toBe(303)
  })

  it('is answered with 303, so that the form is not sent on [redirect-22]', async () => {
    const host = hostWith()
    const { status, headers } = await request(host.app)
      .post('/authorize')
      .type('form')
      .send(await decision(host))
    expect(status).toBe(303)
    expect(headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache', 'content-length': '0' })
  })
})

const nobody = { resourceOwner: () => undefined }
const sent = { ...authorizationRequest, state: 'a&b=c d+é', display: 'page' }

/** The way back, as the host's login finds it. */
const returnTo = (location: unknown) =>
  new URL(String(location), 'http://localhost').searchParams.get('return_to')

describe('without a logged-in owner', () => {
  it('sends the user agent to /login, which finds the whole request in return_to', async () => {
    const { headers, status } = await request(hostWith(nobody).app).get('/authorize').query(sent)
    expect(status).toBe(303)
    expect(headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
    expect(headers['location']).toMatch(/^\/login\?return_to=%2Fauthorize%3F/)
    const back = new URL(String(returnTo(headers['location'])), 'http://localhost')
    expect(back.pathname).toBe('/authorize')
    expect(Object.fromEntries(back.searchParams)).toEqual({ ...sent, login_returns: '1' })
  })

  it('says the same of a request that came by POST, so that it can be made again by GET', async () => {
    const { app } = hostWith(nobody)
    const get = await request(app).get('/authorize').query(sent)
    const post = await request(app).post('/authorize').type('form').send(sent)
    expect(post.status).toBe(303)
    expect(returnTo(post.headers['location'])).toBe(returnTo(get.headers['location']))
  })

  it.each([[undefined], [null], [false as const]])('is what %j from the host means', async (owner) => {
    const { headers } = await request(hostWith({ resourceOwner: () => owner }).app)
      .get('/authorize')
      .query(sent)
    expect(headers['location']).toMatch(/^\/login\?/)
  })

  it('names the path below the issuer', async () => {
    const { app } = hostWith({ ...nobody, issuer: 'http://localhost/auth/' }, (host, oauth) =>
      host.use('/auth', oauth.router()),
    )
    const { headers } = await request(app).get('/auth/authorize').query(sent)
    expect(returnTo(headers['location'])).toMatch(/^\/auth\/authorize\?/)
  })

  it('names nothing that the request claimed of the host [redirect-21]', async () => {
    const { headers } = await request(hostWith(nobody).app)
      .get('/authorize')
      .query(sent)
      .set({ Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' })
    expect(headers['location']).not.toContain('evil')
  })

  it('keeps a query of the login path', async () => {
    const { headers } = await request(hostWith({ ...nobody, login: '/login?tenant=7' }).app)
      .get('/authorize')
      .query(sent)
    expect(headers['location']).toMatch(/^\/login\?tenant=7&return_to=/)
  })

  it('leaves it to a function of the host', async () => {
    const login = jest.fn((_request: Request, response: Response, _returnTo: string) =>
      response.status(401).send('log in'),
    )
    const { app } = hostWith({ ...nobody, login })
    expect(await answerOf(request(app).get('/authorize').query(sent))).toEqual({
      status: 401,
      text: 'log in',
    })
    expect(login.mock.calls[0]?.[2]).toMatch(/^\/authorize\?response_type=code&/)
  })

  it.each([
    [
      'throws',
      () => {
        throw new TypeError('no login')
      },
    ],
    ['rejects', () => Promise.reject(new TypeError('no login'))],
  ])(
    'redirects to the client with an error, and emits an event, when a function of the host %s',
    async (_what, login) => {
      const { app, errors, failures } = hostWith({ ...nobody, login })
      const { headers } = await request(app).get('/authorize').query(sent)
      expect(headers['location']).toMatch(/callback\?error=server_error&/)
      expect(failures).toEqual([
        expect.objectContaining({ code: 'server_error', cause: new TypeError('no login') }),
      ])
      expect(errors).toEqual([])
    },
  )
})

describe('with a logged-in owner', () => {
  it.each([
    ['a subject', 'alice', 'alice'],
    ['a subject and a name', { subject: 'u-1', name: 'Alice' }, 'Alice'],
    ['a subject and a name that is no text', JSON.parse('{"subject":"u-1","name":7}'), 'u-1'],
    ['a promise', Promise.resolve('alice'), 'alice'],
  ])('is what %s means', async (_what, owner, shown) => {
    const { text } = await request(hostWith({ resourceOwner: () => owner }).app)
      .get('/authorize')
      .query(sent)
    expect(text).toContain(`<bdi>${shown}</bdi>`)
  })

  it.each([[''], [true], [7], [{}], [{ subject: '' }], [{ subject: 7 }], [['alice']]])(
    'is not what %j means: the client gets server_error, the host the expected values',
    async (owner) => {
      const resourceOwner = () => JSON.parse(JSON.stringify(owner))
      const { app, failures } = hostWith({ resourceOwner })
      const { headers } = await request(app).get('/authorize').query(sent)
      expect(headers['location']).toMatch(/callback\?error=server_error&/)
      expect(String(failures[0]?.cause)).toMatch(/^TypeError: The option resourceOwner must return a subject/)
    },
  )
})
