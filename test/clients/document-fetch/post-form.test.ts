import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { mayPass, postForm } from '../../../lib/clients/document-fetch/post-form'
import { authority, httpOrigin, httpsOrigin, silentListener } from '../../support/https-origin'

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const closing: (() => unknown)[] = []
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})

function recorder(status = 200, headers: Record<string, string> = {}) {
  const received: Received[] = []
  const listener: RequestListener = async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    received.push({ method: request.method, url: request.url, headers: request.headers, body })
    response.writeHead(status, headers).end()
  }
  return { received, listener }
}

async function secure(listener: RequestListener) {
  const origin = await httpsOrigin(authority.issue(['client.example']), listener)
  closing.push(origin.close)
  return `https://client.example:${origin.port}`
}

async function plain(listener: RequestListener): Promise<string> {
  const origin = await httpOrigin(listener)
  closing.push(origin.close)
  return `http://127.0.0.1:${origin.port}`
}

const { ca } = authority
const here = async () => [{ address: '127.0.0.1' }]
const atHome = postForm({ loopback: true, ca, lookup: here })
const reasonOf = (sent: Promise<unknown>) =>
  sent.then(
    (status) => status,
    (error: unknown) => (error instanceof Error && 'reason' in error ? error.reason : error),
  )

describe('postForm', () => {
  test('sends the form by POST over https, and resolves to the status', async () => {
    const { received, listener } = recorder(204)
    const origin = await secure(listener)
    expect(await atHome(`${origin}/logout?a=b`, 'logout_token=x.y.z')).toBe(204)
    expect(received).toEqual([
      {
        method: 'POST',
        url: '/logout?a=b',
        body: 'logout_token=x.y.z',
        headers: expect.objectContaining({
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': '18',
        }),
      },
    ])
  })

  test('follows no redirect', async () => {
    const elsewhere = recorder()
    const target = await secure(elsewhere.listener)
    const { listener } = recorder(307, { Location: target })
    expect(await atHome(await secure(listener), 'a=b')).toBe(307)
    expect(elsewhere.received).toEqual([])
  })

  test('sends over http to loopback alone, and only from a server at loopback', async () => {
    const { received, listener } = recorder()
    const origin = await plain(listener)
    expect(await atHome(origin, 'a=b')).toBe(200)
    const abroad = postForm({ loopback: false, ca, lookup: here })
    expect(await reasonOf(abroad(origin, 'a=b'))).toBe('url')
    expect(await reasonOf(abroad(origin.replace('http', 'https'), 'a=b'))).toBe('address_forbidden')
    expect(await reasonOf(atHome('http://client.example/', 'a=b'))).toBe('url')
    expect(received).toHaveLength(1)
  })

  test('never sends over http to a name for loopback that has another address', async () => {
    const misled = postForm({ loopback: true, lookup: async () => [{ address: '203.0.113.7' }] })
    expect(await reasonOf(misled('http://localhost:1/', 'a=b'))).toBe('address_forbidden')
    const abroad = postForm({ loopback: true, lookup: async () => [{ address: '93.184.216.34' }] })
    expect(await reasonOf(abroad('http://localhost:1/', 'a=b'))).toBe('address_forbidden')
  })

  test('never sends to an address inside the network', async () => {
    for (const address of ['10.0.0.1', '169.254.169.254', '::1', 'fd00::1']) {
      const inside = postForm({ loopback: false, lookup: async () => [{ address }] })
      expect(await reasonOf(inside('https://client.example/', 'a=b', 'named'))).toBe('address_forbidden')
    }
  })

  test('ends a request that gets no response', async () => {
    const silent = await silentListener()
    closing.push(silent.close)
    const hasty = postForm({ loopback: true, timeout: 50, ca, lookup: here })
    expect(await reasonOf(hasty(`https://client.example:${silent.port}/`, 'a=b'))).toBe('timeout')
  })

  test('a host that never answers keeps no other host waiting', async () => {
    const silent = await silentListener()
    closing.push(silent.close)
    const { listener } = recorder()
    const origin = await secure(listener)
    const patient = postForm({ loopback: true, ca, lookup: here })
    const waiting = Array.from({ length: 40 }, () => patient(`https://127.0.0.1:${silent.port}/`, 'a=b'))
    expect(await patient(origin, 'a=b')).toBe(200)
    expect(silent.connections()).toBeLessThanOrEqual(4)
    await silent.close()
    await Promise.allSettled(waiting)
  })

  test('refuses a certificate of another name', async () => {
    const { received, listener } = recorder()
    const origin = await httpsOrigin(authority.issue(['other.example']), listener)
    closing.push(origin.close)
    expect(await reasonOf(atHome(`https://client.example:${origin.port}/`, 'a=b'))).toBe('connection')
    expect(received).toEqual([])
  })

  test('bounds what it sends to one host for URLs that anybody may have named, and not for others', async () => {
    const nowhere = () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }))
    const bounded = postForm({ loopback: false, clock: () => 0, lookup: nowhere })
    const send = (trust: 'named' | 'unknown') => reasonOf(bounded('https://client.example/', 'a=b', trust))
    const outcomes = []
    for (let count = 0; count < 605; count++) outcomes.push(await send('unknown'))
    expect(outcomes.filter((outcome) => outcome === 'unresolved')).toHaveLength(600)
    expect(outcomes.slice(600)).toEqual(Array(5).fill('limited'))
    expect(await send('named')).toBe('unresolved')
  })

  test('a failure may pass, unless the URL or its address is forbidden', async () => {
    const thrownBy = (sent: Promise<unknown>) => sent.catch((error: unknown) => error)
    expect(mayPass(await thrownBy(atHome('http://client.example/', 'a=b')))).toBe(false)
    const inside = postForm({ loopback: false, lookup: async () => [{ address: '10.0.0.1' }] })
    expect(mayPass(await thrownBy(inside('https://client.example/', 'a=b')))).toBe(false)
    const silent = await silentListener()
    closing.push(silent.close)
    const hasty = postForm({ loopback: true, timeout: 50, ca, lookup: here })
    expect(mayPass(await thrownBy(hasty(`https://client.example:${silent.port}/`, 'a=b')))).toBe(true)
  })
})
