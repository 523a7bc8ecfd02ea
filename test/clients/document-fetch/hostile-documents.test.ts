import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { documentFetch, type DocumentFetchOptions } from '../../../lib/clients/document-fetch/document-fetch'
import {
  DocumentUnavailable,
  type UnavailableReason,
} from '../../../lib/clients/document-fetch/document-unavailable'
import { authority, httpsOrigin, silentListener, tlsOrigin } from '../../support/https-origin'
import type { Listener } from '../../support/listening'
import { CertificateAuthority } from '../../support/certificate-authority'
import { waitUntil } from '../../support/wait-until'

const identity = authority.issue(['hostile.example', '127.0.0.1'])

/** What no fetch may reach: it accepts connections at every address of this machine, loopback of both families too. */
let inner: Listener
const others: Listener[] = []
beforeAll(async () => {
  inner = await silentListener({ address: '::' })
})
afterEach(async () => {
  for (const listener of others.splice(0)) await listener.close()
  if (inner.connections() > 0) throw new Error('An inner listener was reached.')
})
afterAll(async () => inner.close())

const answering =
  (...addresses: readonly string[]) =>
  async () =>
    addresses.map((address) => ({ address }))

// Refusals do not wait for the deadline, so a busy machine may take its time.
const fetching = (options: DocumentFetchOptions) => documentFetch({ timeout: 60_000, ...options })

/** The refusal of a document. What a requester could see of it is the same for all. */
async function refusalOf(fetched: Promise<unknown>): Promise<UnavailableReason> {
  const error: unknown = await fetched.then(
    () => new Error('There is a document.'),
    (refusal: unknown) => refusal,
  )
  if (!(error instanceof DocumentUnavailable)) throw error
  expect(String(error)).toBe('DocumentUnavailable: The document is not available.')
  return error.reason
}

describe('a public server asks no address that is not public', () => {
  const lone = [
    ['loopback', '127.0.0.1'],
    ['another loopback', '127.9.8.7'],
    ['loopback of IPv6', '::1'],
    ['loopback of IPv6, spelt out', '0:0:0:0:0:0:0:1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped loopback in hexadecimal', '::ffff:7f00:1'],
    ['compatible loopback', '::127.0.0.1'],
    ['translated loopback', '::ffff:0:127.0.0.1'],
    ['loopback behind NAT64', '64:ff9b::127.0.0.1'],
    ['loopback behind local NAT64', '64:ff9b:1::127.0.0.1'],
    ['loopback by 6to4', '2002:7f00:1::1'],
    ['loopback by Teredo', '2001:0:4136:e378:8000:63bf:80ff:fffe'],
    ['loopback by ISATAP', '2600::5efe:127.0.0.1'],
    ['unspecified', '0.0.0.0'],
    ['unspecified of IPv6', '::'],
    ['instance metadata', '169.254.169.254'],
    ['instance metadata of IPv6', 'fd00:ec2::254'],
    ['private use', '10.0.0.1'],
    ['mapped private use', '::ffff:192.168.0.1'],
    ['carrier-grade NAT', '100.100.100.200'],
    ['link-local with a zone', 'fe80::1%lo'],
    ['a public address with a zone', '2600::1%lo'],
    ['limited broadcast', '255.255.255.255'],
    ['multicast', 'ff02::1'],
    ['no address', 'localhost'],
    ['a short spelling', '127.1'],
    ['an empty text', ''],
  ] as const
  test.each(lone)('a name with %s [document-1]', async (_, address) => {
    const documents = fetching({ loopback: false, lookup: answering(address) })
    expect(await refusalOf(documents.fetch(`https://hostile.example:${inner.port}/`))).toBe(
      'address_forbidden',
    )
  })

  test.each([
    ['last', ['8.8.8.8', '2600::1', '127.0.0.1']],
    ['first', ['127.0.0.1', '8.8.8.8']],
    ['behind a hundred others', [...Array.from({ length: 100 }, (_, at) => `8.8.8.${at}`), '::1']],
  ])('a name with an inner address %s among public ones [document-1]', async (_, addresses) => {
    const documents = fetching({ loopback: false, lookup: answering(...addresses) })
    expect(await refusalOf(documents.fetch(`https://hostile.example:${inner.port}/`))).toBe(
      'address_forbidden',
    )
  })

  test.each([
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '2130706433',
    '0',
    '127.0.0.1%2e',
    '127.0.0.1.',
    '%31%32%37.0.0.1',
    '[::1]',
    '[0:0::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    'localhost',
    'LOCALHOST',
    'a.localhost',
    '169.254.169.254',
    '[fd00:ec2::254]',
  ])('the host %s, without any resolver of the test [document-1]', async (host) => {
    const documents = fetching({ loopback: false })
    const reason = await refusalOf(documents.fetch(`https://${host}:${inner.port}/`))
    expect(['address_forbidden', 'url']).toContain(reason)
  })

  test('a name without an address, and one whose resolver fails', async () => {
    const failing = async () => Promise.reject(new Error('queryA ESERVFAIL inner.example'))
    for (const lookup of [answering(), failing])
      expect(await refusalOf(fetching({ loopback: false, lookup }).fetch('https://hostile.example/'))).toBe(
        'unresolved',
      )
  })
})

test.each([
  'http://127.0.0.1:PORT/',
  'HTTP://127.0.0.1:PORT/',
  'ftp://127.0.0.1:PORT/',
  'file:///etc/passwd',
  'data:application/json,{}',
  'https:127.0.0.1:PORT/',
  'https:/127.0.0.1:PORT/',
  'https:///127.0.0.1:PORT/',
  'https:\\\\127.0.0.1:PORT\\',
  'https://public.example\\@127.0.0.1:PORT/',
  'https://public.example@127.0.0.1:PORT/',
  'https://a:b@127.0.0.1:PORT/',
  'https://@127.0.0.1:PORT/',
  'https://:@127.0.0.1:PORT/',
  'https://127.0.0.1:PORT/#',
  'https://127.0.0.1:PORT/#fragment',
  'https://127.0.0.1:99999/',
  'https://127.0.0.1:PORT:443/',
  'https://localhost.:PORT/',
  'https://[::1%25lo]:PORT/',
  'https://[::1%lo]:PORT/',
  'https://256.0.0.1:PORT/',
  'https://127.0.0.1:PORT/ HTTP/1.1',
  'https://127.0.0.1:PORT/\r\nHost: inner',
  'https://127.0.0\t.1:PORT/',
  ' https://127.0.0.1:PORT/',
  'https://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3:PORT/',
  `https://127.0.0.1:PORT/${'a'.repeat(2048)}`,
  '//127.0.0.1:PORT/',
  '/',
  '',
])(
  'even a server at loopback fetches only from https URLs that need no repair: %j [document-3]',
  async (url) => {
    const documents = fetching({ loopback: true, ca: authority.ca })
    expect(await refusalOf(documents.fetch(url.replace('PORT', String(inner.port))))).toBe('url')
  },
)

test('a name that moves inside after the check is asked for only once, and the connection stays with the first answer [document-2]', async () => {
  const origin = await httpsOrigin(identity, (_, response) => response.end(), { address: '127.0.0.2' })
  const moved = await silentListener({ address: '127.0.0.3', port: origin.port })
  others.push(origin, moved)
  const answers = ['127.0.0.2', '127.0.0.3', '127.0.0.3']
  const lookup = async () => [{ address: answers.shift() ?? '127.0.0.3' }]
  const documents = fetching({ loopback: true, lookup, ca: authority.ca })
  expect(await refusalOf(documents.fetch(`https://hostile.example:${origin.port}/`))).toBe('type')
  expect([origin.connections(), moved.connections(), answers.length]).toEqual([1, 0, 2])
})

test('of a name with many addresses, only four are asked [document-7]', async () => {
  const fourth = await silentListener({ address: '127.0.0.5' })
  others.push(fourth)
  const lookup = answering('127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5')
  const documents = fetching({ loopback: true, lookup, ca: authority.ca })
  expect(await refusalOf(documents.fetch(`https://hostile.example:${fourth.port}/`))).toBe('connection')
  expect(fourth.connections()).toBe(0)
})

const json = { 'Content-Type': 'application/json' }
const large = JSON.stringify('a'.repeat(6000))
const endless = (response: ServerResponse, chunk: string) => {
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', write)
  write()
}
const redirect =
  (status: number, location: (inner: number) => string): RequestListener =>
  (_, response) =>
    response.writeHead(status, { ...json, Location: location(inner.port) }).end('{}')

describe('an origin that answers', () => {
  const answers: readonly (readonly [title: string, reason: UnavailableReason, answer: RequestListener])[] = [
    ...[300, 301, 302, 303, 304, 307, 308].map(
      (status) =>
        [
          `with a redirect, ${status}`,
          'status',
          redirect(status, (port) => `https://127.0.0.1:${port}/`),
        ] as const,
    ),
    ['with a redirect to http', 'status', redirect(302, (port) => `http://127.0.0.1:${port}/`)],
    ['with a redirect without a host', 'status', redirect(302, () => '/other')],
    ...[201, 202, 203, 204, 206, 226, 400, 401, 404, 407, 429, 500, 503].map(
      (status) =>
        [
          `with ${status}`,
          'status',
          (_, response) => response.writeHead(status, json).end('{}'),
        ] as const satisfies readonly [string, UnavailableReason, RequestListener],
    ),
    [
      'with 200 and Location',
      'type',
      (_, response) => response.writeHead(200, { Location: `https://127.0.0.1:${inner.port}/` }).end('{}'),
    ],
    ...[
      '',
      'text/html',
      'text/json',
      'application/javascript',
      'application/json5',
      'application/x+jsonp',
      'application/+json',
      'xapplication/json',
      'text/plain, application/json',
    ].map(
      (type) =>
        [
          `with the type ${JSON.stringify(type)}`,
          'type',
          (_, response) => response.writeHead(200, { 'Content-Type': type }).end('{}'),
        ] as const satisfies readonly [string, UnavailableReason, RequestListener],
    ),
    [
      'with a compressed bomb',
      'encoding',
      (_, response) =>
        response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' }).end(gzipSync('0'.repeat(5_000_000))),
    ],
    [
      'with a layered encoding',
      'encoding',
      (_, response) => response.writeHead(200, { ...json, 'Content-Encoding': 'identity, br' }).end('{}'),
    ],
    [
      'with compressed bytes that it does not announce',
      'malformed',
      (_, response) => response.writeHead(200, json).end(gzipSync('{}')),
    ],
    [
      'with more bytes than allowed, announced',
      'size',
      (_, response) => response.writeHead(200, { ...json, 'Content-Length': large.length }).end(large),
    ],
    [
      'with more bytes than allowed, in one chunk',
      'size',
      (_, response) => void response.writeHead(200, json).write(large),
    ],
    ['with endless chunks', 'size', (_, response) => endless(response.writeHead(200, json), '[')],
    ['with endless white space', 'size', (_, response) => endless(response.writeHead(200, json), ' ')],
    [
      'with fewer bytes than announced',
      'connection',
      (_, response) => {
        response.writeHead(200, { ...json, 'Content-Length': 10 }).write('{}', () => response.destroy())
      },
    ],
    [
      'with a recursive document',
      'malformed',
      (_, response) => response.writeHead(200, json).end('['.repeat(2500) + ']'.repeat(2500)),
    ],
    [
      'with recursive members',
      'malformed',
      (_, response) => response.writeHead(200, json).end('{"a":'.repeat(800) + '1' + '}'.repeat(800)),
    ],
    [
      'with half a document',
      'malformed',
      (_, response) => response.writeHead(200, json).end('{"client_id":'),
    ],
    ['with nothing', 'malformed', (_, response) => response.writeHead(200, json).end()],
    [
      'in Latin-1',
      'malformed',
      (_, response) => response.writeHead(200, json).end(Buffer.from('"\u00fc"', 'latin1')),
    ],
    [
      'in UTF-16',
      'malformed',
      (_, response) => response.writeHead(200, json).end(Buffer.from('\uFEFF{}', 'utf16le')),
    ],
    [
      'with a head that is too long',
      'size',
      (_, response) => response.writeHead(200, { ...json, 'X-Long': 'a'.repeat(9000) }).end('{}'),
    ],
  ]
  test.each(answers)('%s gives no document (%s) [document-4]', async (_, reason, answer) => {
    const origin = await httpsOrigin(identity, answer)
    others.push(origin)
    const documents = fetching({ loopback: true, lookup: answering('127.0.0.1'), ca: authority.ca })
    expect(await refusalOf(documents.fetch(`https://hostile.example:${origin.port}/`))).toBe(reason)
    await waitUntil('the connection is closed', async () => origin.open() === 0)
    expect(origin.connections()).toBe(1)
  })

  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
  const repeat = (socket: Socket, text: string) => {
    const write = () => {
      while (!socket.destroyed && socket.write(text));
    }
    socket.on('drain', write)
    write()
  }
  const bytes: readonly (readonly [
    title: string,
    reason: UnavailableReason,
    answer: (socket: Socket) => void,
  ])[] = [
    ['no HTTP', 'connection', (socket) => socket.end('SSH-2.0-OpenSSH\r\n')],
    ['HTTP/0.9', 'connection', (socket) => socket.end('{}')],
    ['nothing, and ends', 'connection', (socket) => socket.end()],
    ['a reset', 'connection', (socket) => socket.destroy()],
    [
      'informational responses without end',
      'size',
      (socket) => repeat(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    ],
    [
      'a head without end',
      'size',
      (socket) => {
        socket.write(head)
        repeat(socket, 'X-A: a\r\n')
      },
    ],
    [
      'chunk extensions without end',
      'size',
      (socket) => {
        socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
        repeat(socket, `1;${'a'.repeat(1000)}\r\n[\r\n`)
      },
    ],
    [
      'trailers without end',
      'size',
      (socket) => {
        socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`)
        repeat(socket, 'X-A: a\r\n')
      },
    ],
    [
      'another protocol',
      'connection',
      (socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: inner\r\nConnection: Upgrade\r\n\r\n{}'),
    ],
    [
      'two lengths',
      'connection',
      (socket) => socket.end(`${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}1`),
    ],
    [
      'a length and chunks',
      'connection',
      (socket) => socket.end(`${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`),
    ],
    [
      'a huge chunk',
      'connection',
      (socket) => socket.end(`${head}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}`),
    ],
    ['a compressed transfer', 'encoding', (socket) => socket.end(`${head}Transfer-Encoding: gzip\r\n\r\n{}`)],
  ]
  test.each(bytes)('with %s gives no document (%s) [document-6]', async (_, reason, answer) => {
    const origin = await tlsOrigin(identity, answer)
    others.push(origin)
    const documents = fetching({ loopback: true, lookup: answering('127.0.0.1'), ca: authority.ca })
    expect(await refusalOf(documents.fetch(`https://hostile.example:${origin.port}/`))).toBe(reason)
    await waitUntil('the connection is closed', async () => origin.open() === 0)
  })

  test.each([
    ['another name', authority.issue(['other.example'])],
    ['a name below', authority.issue(['*.hostile.example'])],
    ['its address', authority.issue(['127.0.0.1'])],
    ['an unknown authority', new CertificateAuthority().issue(['hostile.example'])],
    ['yesterday', authority.issue(['hostile.example'], -0.5)],
  ])('with a certificate of %s gives no document, and sees no request [document-5]', async (_, foreign) => {
    let requests = 0
    const origin = await httpsOrigin(foreign, (request, response) => {
      requests += 1
      response.writeHead(200, json).end('{}')
    })
    others.push(origin)
    const documents = fetching({ loopback: true, lookup: answering('127.0.0.1'), ca: authority.ca })
    expect(await refusalOf(documents.fetch(`https://hostile.example:${origin.port}/`))).toBe('connection')
    expect(requests).toBe(0)
  })
})

test('whatever is slow ends at the deadline, with its connection [document-6]', async () => {
  const drip = (response: ServerResponse, text: string) => {
    const timer = setInterval(() => response.write(text), 50)
    response.once('close', () => clearInterval(timer))
  }
  const origins = await Promise.all([
    silentListener(),
    httpsOrigin(identity, () => undefined),
    httpsOrigin(identity, (_, response) => void response.writeHead(200, json).write('{')),
    httpsOrigin(identity, (_, response) => drip(response.writeHead(200, json), ' ')),
    tlsOrigin(identity, (socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 50)
      socket.once('close', () => clearInterval(timer))
    }),
    tlsOrigin(identity, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket.write('X-A: a\r\n'), 50)
      socket.once('close', () => clearInterval(timer))
    }),
  ])
  others.push(...origins)
  const documents = documentFetch({ loopback: true, lookup: answering('127.0.0.1'), ca: authority.ca })
  const resolving = documentFetch({ loopback: true, lookup: async () => new Promise(() => undefined) })
  const reasons = await Promise.all([
    refusalOf(resolving.fetch('https://hostile.example/')),
    ...origins.map(({ port }) => refusalOf(documents.fetch(`https://hostile.example:${port}/`))),
  ])
  expect(reasons).toEqual(reasons.map(() => 'timeout'))
  await waitUntil('all connections are closed', async () => origins.every(({ open }) => open() === 0))
  expect(origins.map(({ connections }) => connections())).toEqual(origins.map(() => 1))
})

test('a name whose addresses arrive after the deadline is not connected to', async () => {
  const late = await silentListener()
  others.push(late)
  let answer: (addresses: readonly { address: string }[]) => void = () => undefined
  const documents = documentFetch({
    loopback: true,
    lookup: async () => new Promise((resolve) => (answer = resolve)),
  })
  expect(await refusalOf(documents.fetch(`https://hostile.example:${late.port}/`))).toBe('timeout')
  answer([{ address: '127.0.0.1' }])
  await new Promise((resolve) => setImmediate(resolve))
  const probe = documentFetch({ loopback: true, lookup: answering('127.0.0.1') })
  expect(await refusalOf(probe.fetch(`https://hostile.example:${late.port}/`))).toBe('timeout')
  expect(late.connections()).toBe(1)
})
