import request from 'supertest'
import { authorizationRequest, handleIn } from '../support/rooms/consent-form'
import { hostWith } from '../support/rooms/host'
import { statusOf } from '../support/rooms/status'

const decision = async (host: ReturnType<typeof hostWith>) => {
  const { text } = await request(host.app).get('/authorize').query(authorizationRequest)
  return { authorization_request: handleIn(text), decision: 'approve' }
}

describe('the authorization endpoint: methods', () => {
  it.each(['head', 'put', 'patch', 'delete', 'options'] as const)('does not act on %s', async (method) => {
    const resourceOwner = jest.fn(() => 'alice')
    const host = hostWith({ resourceOwner })
    const response = await request(host.app)[method]('/authorize').query(authorizationRequest)
    expect(response.status).toBe(405)
    expect(response.headers['allow']).toBe('GET, POST')
    expect(resourceOwner).not.toHaveBeenCalled()
    expect(host.failures).toEqual([])
  })

  it('takes a request by POST from the body alone (AUZ-2)', async () => {
    const host = hostWith()
    const page = await request(host.app)
      .post('/authorize')
      .type('form')
      .send(authorizationRequest)
      .expect(200)
    expect(handleIn(page.text)).toMatch(/^ar_/)
    expect(
      await statusOf(request(host.app).post('/authorize').query(authorizationRequest).type('form').send({})),
    ).toBe(400)
  })

  it('takes a request by GET from the query alone', async () => {
    expect(
      await statusOf(request(hostWith().app).get('/authorize').type('form').send(authorizationRequest)),
    ).toBe(400)
  })

  it('tells the resource owner of a body that is no form', async () => {
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

  it('is not taken from nobody: the login may have ended meanwhile', async () => {
    let owner: string | undefined = 'alice'
    const host = hostWith({ resourceOwner: () => owner })
    const form = await decision(host)
    owner = undefined
    expect(await statusOf(request(host.app).post('/authorize').type('form').send(form))).toBe(400)
    expect(host.failures).toEqual([expect.objectContaining({ reason: 'owner_not_logged_in' })])
  })

  it('is not taken from somebody else', async () => {
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
    ['no handle', { authorization_request: '' }, 'parameter_missing'],
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
