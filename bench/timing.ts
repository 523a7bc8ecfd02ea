import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { basic, formOf, type Fields } from '../test/support/flows/flow'
import { median } from './figures'
import { table } from './table'

// What an attacker can tell from the time of a refusal. TIMING_ROUNDS is the number of samples of each kind, TIMING_FAST that of quick ones.
const rounds = Number(process.env['TIMING_ROUNDS'] ?? 100)
const fastRounds = Number(process.env['TIMING_FAST'] ?? 3000)
// A difference counts when it is no chance, and large enough to be of use.
const farOff = 0.1
const noChance = 3.3

interface Kind {
  readonly client: string
  readonly secret?: string
  readonly fields?: Fields
  /** Of the answer; default 401. */
  readonly status?: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Milliseconds until the answer is there. */
async function ask(port: number, kind: Kind): Promise<number> {
  const { client, secret = 'wrong secret', fields, status = 401 } = kind
  const body = formOf(fields ?? { grant_type: 'client_credentials' })
  const headers = {
    Authorization: basic(client, secret),
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': Buffer.byteLength(body),
  }
  const begin = performance.now()
  const sent = request({ host: '127.0.0.1', port, path: '/token', method: 'POST', agent, headers })
  sent.end(body)
  const [response] = await once(sent, 'response')
  response.resume()
  await once(response, 'end')
  const taken = performance.now() - begin
  // A refusal of another kind, such as that of a limit, would be compared with itself, and always be the same.
  if (response.statusCode !== status) throw new Error(`${client} was answered ${response.statusCode}.`)
  return taken
}

/** Samples of each kind, all kinds in each round, each time in another order. */
async function sample(port: number, kinds: Readonly<Record<string, Kind>>, times: number) {
  const samples = new Map(Object.keys(kinds).map((name) => [name, [] as number[]]))
  const names = Object.keys(kinds)
  for (let round = -5; round < times; round++) {
    for (const name of names.toSorted(() => Math.random() - 0.5)) {
      const kind = kinds[name]
      if (kind === undefined) continue
      const taken = await ask(port, kind)
      // The first rounds warm up, and let the server see what its clients cost.
      if (round >= 0) samples.get(name)?.push(taken)
    }
  }
  return samples
}

type Pair = readonly [one: string, other: string, tellable?: 'tellable']

async function compare(
  title: string,
  mode: string,
  kinds: Kinds,
  pairs: readonly Pair[],
  times: number,
): Promise<string[][]> {
  const server = fork(join(__dirname, 'timing-server.ts'), [mode], { execArgv: ['-r', 'esbuild-register'] })
  try {
    const { port, secret } = await toldBy(server)
    const samples = await sample(port, kinds(secret), times)
    const of = (name: string) => samples.get(name) ?? []
    return pairs.map(([one, other, tellable]) => {
      const [first, second] = [of(one), of(other)]
      const share = superiority(first, second)
      const away = deviations(first, second)
      const apart = Math.abs(share - 0.5) > farOff && Math.abs(away) > noChance
      const fits = apart === (tellable !== undefined)
      if (!fits) process.exitCode = 1
      return [
        `${title}: ${one} and ${other}`,
        String(times),
        tellable === undefined ? 'cannot be told apart' : 'control: can be told apart',
        `${fits ? '' : 'NOT SO: '}medians ${median(first).toFixed(2)} and ${median(second).toFixed(2)} ms, the first is slower in ${(share * 100).toFixed(1)} % of pairs (${away.toFixed(1)} deviations)`,
      ]
    })
  } finally {
    server.disconnect()
  }
}

type Kinds = (secret: string) => Readonly<Record<string, Kind>>

async function toldBy(server: ChildProcess): Promise<{ readonly port: number; readonly secret: string }> {
  const [message] = await once(server, 'message')
  return message
}

const fastKinds: Kinds = (secret) => ({
  'an unknown client': { client: 'nobody' },
  'another unknown client': { client: 'nowhere' },
  'a wrong secret': { client: 'generated' },
  'a wrong secret of a client with two': { client: 'two-generated' },
  'a disabled client': { client: 'disabled-generated' },
  'the right secret': {
    client: 'trusted',
    secret,
    fields: { grant_type: 'client_credentials', scope: 'x' },
    status: 400,
  },
})
const login = (secret: string, username: string): Kind => ({
  client: 'trusted',
  secret,
  fields: { grant_type: 'password', username, password: 'wrong', scope: 'photos:read' },
  status: 400,
})
const slowKinds: Kinds = (secret) => ({
  'an unknown client': { client: 'nobody' },
  'another unknown client': { client: 'nowhere' },
  'a wrong secret': { client: 'chosen' },
  'a wrong secret of a client with two': { client: 'two-chosen' },
  'a wrong secret of lower cost': { client: 'cheap' },
  'a wrong secret of a client with a generated one': { client: 'generated' },
  'a disabled client': { client: 'disabled' },
  'a right generated secret': {
    client: 'trusted',
    secret,
    fields: { grant_type: 'client_credentials', scope: 'photos:read' },
    status: 200,
  },
  'an unknown user name': login(secret, 'nobody'),
  'a wrong password': login(secret, 'alice'),
  'a wrong password of lower cost': login(secret, 'bob'),
})
const against = (one: string, ...others: readonly string[]): readonly Pair[] =>
  others.map((other) => [one, other])

/**
 * How well one sample of each tells the two kinds apart: the share of pairs in which the first is the greater one, ties
 * by half (Mann and Whitney's U over the number of pairs). 0.5 says that time tells nothing; 0 and 1, that it tells all.
 */
function superiority(one: readonly number[], other: readonly number[]): number {
  let greater = 0
  for (const first of one)
    for (const second of other) greater += first > second ? 1 : first === second ? 0.5 : 0
  return greater / (one.length * other.length)
}

/** By how many standard deviations that share is off one half, were both kinds the same. */
function deviations(one: readonly number[], other: readonly number[]): number {
  const pairs = one.length * other.length
  const deviation = Math.sqrt((one.length + other.length + 1) / (12 * pairs))
  return (superiority(one, other) - 0.5) / deviation
}

async function main(): Promise<void> {
  const unknown = 'an unknown client'
  const fast = await compare(
    'generated secrets',
    'fast',
    fastKinds,
    against(
      unknown,
      'another unknown client',
      'a wrong secret',
      'a wrong secret of a client with two',
      'a disabled client',
    ),
    fastRounds,
  )
  const slow = await compare(
    'bcrypt',
    'bcrypt',
    slowKinds,
    [
      ...against(
        unknown,
        'another unknown client',
        'a wrong secret',
        'a wrong secret of a client with two',
        'a wrong secret of lower cost',
        'a wrong secret of a client with a generated one',
        'a disabled client',
      ),
      [unknown, 'a right generated secret', 'tellable'],
      ...against('an unknown user name', 'a wrong password', 'a wrong password of lower cost'),
    ],
    rounds,
  )
  console.log(`Node ${process.version}, ${new Date().toISOString().slice(0, 10)}\n`)
  console.log(table(['case', 'rounds', 'what must hold', 'seen'], [...fast, ...slow]))
}

void main().finally(() => agent.destroy())
