import { execFile } from 'node:child_process'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { documentFetch, type DocumentFetchOptions } from '../../lib/document-fetch/document-fetch'
import { Clock } from '../support/flows/clock'
import { authority, httpsOrigin, type Listener, silentListener } from '../support/https-origin'
import { waitUntil } from '../support/wait-until'

const identity = authority.issue(['client.example', '*.client.example', '127.0.0.1', 'localhost'])
const atLoopback = async () => [{ address: '127.0.0.1' }]

const listeners: Listener[] = []
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close()
})

const answerJson: RequestListener = (request, response) => {
  response.setHeader('Content-Type', 'application/json').setHeader('Cache-Control', 'max-age=600')
  response.end(JSON.stringify({ path: request.url }))
}

async function stage(answer = answerJson, options: Partial<DocumentFetchOptions> = {}) {
  const origin = await httpsOrigin(identity, answer)
  listeners.push(origin)
  const clock = new Clock()
  const documents = documentFetch({
    loopback: true,
    lookup: atLoopback,
    ca: authority.ca,
    // What is tested here is never slow by intent, and a busy machine may be.
    timeout: 60_000,
    clock: clock.read,
    ...options,
  })
  const urlOf = (path: string, name = 'client.example') => `https://${name}:${origin.port}${path}`
  return { origin, clock, documents, urlOf }
}

/** How each of several fetches ends: `document`, or the reason. */
async function outcomes(fetches: readonly Promise<unknown>[]): Promise<readonly string[]> {
  return Promise.all(
    fetches.map((fetch) => fetch.then(() => 'document').catch((error) => String(error.reason))),
  )
}
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, at) => make(at))

describe('a document', () => {
  test('is fetched by name, with its port, path and query', async () => {
    const { documents, urlOf, origin } = await stage((request, response) => {
      response.setHeader('Content-Type', 'application/client+json; charset=utf-8')
      response.end(JSON.stringify({ url: request.url, headers: request.headers }))
    })
    const { json, maximumAge } = await documents.fetch(urlOf('/a/b?c=%20d'))
    expect(json).toEqual({
      url: '/a/b?c=%20d',
      headers: {
        host: `client.example:${origin.port}`,
        accept: 'application/json',
        'accept-encoding': 'identity',
        connection: 'close',
      },
    })
    expect(maximumAge).toBe(60)
  })

  test('has an age by its headers', async () => {
    const { documents, urlOf } = await stage()
    expect(await documents.fetch(urlOf('/'))).toEqual({ json: { path: '/' }, maximumAge: 600 })
  })

  test.each(['127.0.0.1', '2130706433', '0x7f.1', '017700000001', 'localhost'])(
    'comes from %s where loopback is allowed, without any resolver of the test',
    async (host) => {
      const { origin } = await stage()
      const documents = documentFetch({ loopback: true, ca: authority.ca, timeout: 60_000 })
      const { json } = await documents.fetch(`https://${host}:${origin.port}/a`)
      expect(json).toEqual({ path: '/a' })
    },
  )

  test('may be as large as allowed', async () => {
    const text = (size: number) => JSON.stringify('a'.repeat(size - 2))
    const { documents, urlOf } = await stage((request, response) => {
      response.setHeader('Content-Type', 'application/json').end(text(Number(request.url?.slice(1))))
    })
    expect(await outcomes([documents.fetch(urlOf('/5120')), documents.fetch(urlOf('/5121'))])).toEqual([
      'document',
      'size',
    ])
    const larger = await stage((_, response) => {
      response.setHeader('Content-Type', 'application/jwk-set+json').end(text(65_536))
    })
    const url = larger.urlOf('/')
    // At the same time: each call has its own bound.
    const both = [larger.documents.fetch(url, 65_536), larger.documents.fetch(url)]
    expect(await outcomes(both)).toEqual(['document', 'size'])
  })

  test('comes from another of its addresses if the first does not answer', async () => {
    const { documents, urlOf } = await stage(answerJson, {
      lookup: async () => [{ address: '127.0.0.9' }, { address: '127.0.0.1' }],
    })
    expect(await outcomes([documents.fetch(urlOf('/'))])).toEqual(['document'])
  })

  test('comes directly and from a certified origin, whatever the environment says [document-5]', async () => {
    const proxy = await silentListener()
    listeners.push(proxy)
    const url = `http://127.0.0.1:${proxy.port}`
    const env = {
      ...process.env,
      HTTPS_PROXY: url,
      https_proxy: url,
      NODE_USE_ENV_PROXY: '1',
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      NODE_NO_WARNINGS: '1',
    }
    const words = ['-r', 'esbuild-register', join(__dirname, 'fetch-in-environment.ts')]
    const { stdout } = await promisify(execFile)(process.execPath, words, {
      cwd: join(__dirname, '../..'),
      env,
    })
    expect(JSON.parse(stdout)).toEqual({ certified: 'document', uncertified: 'connection' })
    expect(proxy.connections()).toBe(0)
  })
})

describe('many calls', () => {
  test('for one URL at the same time share one fetch, its failure too, and nothing is kept [document-7]', async () => {
    let requests = 0
    const { documents, urlOf } = await stage((request, response) => {
      requests += 1
      if (request.url === '/missing') response.statusCode = 404
      answerJson(request, response)
    })
    const same = await Promise.all(times(50, () => documents.fetch(urlOf('/same'))))
    expect(new Set(same.map(({ json }) => json)).size).toBe(1)
    expect(requests).toBe(1)
    expect(new Set(await outcomes(times(50, () => documents.fetch(urlOf('/missing')))))).toEqual(
      new Set(['status']),
    )
    expect(requests).toBe(2)
    await documents.fetch(urlOf('/same'))
    expect(requests).toBe(3)
  })

  test('have at most 16 fetches at once, 64 wait, and others are refused at once [document-7]', async () => {
    const held: (() => void)[] = []
    let most = 0
    let open = 0
    const { documents, urlOf } = await stage((request, response) => {
      most = Math.max(most, ++open)
      response.once('finish', () => open--)
      if (held.length < 16) held.push(() => answerJson(request, response))
      else answerJson(request, response)
    })
    const waiting = times(80, (at) => documents.fetch(urlOf('/', `a${at}.client.example`)))
    expect(await outcomes([documents.fetch(urlOf('/', 'late.client.example'))])).toEqual(['busy'])
    await waitUntil('16 are held', async () => held.length === 16)
    for (const answer of held) answer()
    expect(await outcomes(waiting)).toEqual(times(80, () => 'document'))
    expect(most).toBe(16)
  })

  test('for one name are limited, and the limit refills [document-7]', async () => {
    const { documents, urlOf, clock, origin } = await stage()
    const ask = async (count: number, path: string) => {
      const ended: string[] = []
      for (let at = 0; at < count; at++)
        ended.push(...(await outcomes([documents.fetch(urlOf(`/${path}${at}`))])))
      return ended.filter((each) => each === 'document').length
    }
    expect(await ask(40, 'a')).toBe(30)
    clock.advance(4)
    expect(await ask(5, 'b')).toBe(2)
    expect(origin.connections()).toBe(32)
    expect(await outcomes([documents.fetch(urlOf('/', 'other.client.example'))])).toEqual(['document'])
  })

  test('for one address are limited, whatever names lead to it [document-7]', async () => {
    const { documents, urlOf, origin } = await stage()
    const ended: string[] = []
    for (let at = 0; at < 130; at++)
      ended.push(...(await outcomes([documents.fetch(urlOf('/', `a${at}.client.example`))])))
    expect(ended.filter((each) => each === 'document').length).toBe(120)
    expect(new Set(ended.slice(120))).toEqual(new Set(['limited']))
    expect(origin.connections()).toBe(120)
  })

  test('for a document that came before have a limit of their own, which other calls to its host do not use up [document-8]', async () => {
    const { documents, urlOf, clock } = await stage((request, response) => {
      if (request.url !== '/known') response.statusCode = 404
      answerJson(request, response)
    })
    const ask = async (count: number, path: (at: number) => string) => {
      const ended: string[] = []
      for (let at = 0; at < count; at++) ended.push(...(await outcomes([documents.fetch(urlOf(path(at)))])))
      return ended
    }
    expect(await ask(1, () => '/known')).toEqual(['document'])
    expect((await ask(40, (at) => `/${at}`)).at(-1)).toBe('limited')
    expect(await ask(8, () => '/known')).toEqual([...times(6, () => 'document'), 'limited', 'limited'])
    clock.advance(10)
    expect(await ask(2, () => '/known')).toEqual(['document', 'limited'])
  })

  test('leave no connection open', async () => {
    const { documents, urlOf, origin } = await stage((request, response) => {
      if (request.url === '/0') response.statusCode = 500
      answerJson(request, response)
    })
    await outcomes(times(20, (at) => documents.fetch(urlOf(`/${at % 2}`, `a${at}.client.example`))))
    await waitUntil('all connections are closed', async () => origin.open() === 0)
    expect(origin.connections()).toBe(20)
  })
})
