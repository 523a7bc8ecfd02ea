import { randomUUID } from 'node:crypto'
import type { Cluster } from 'ioredis'
import type { Response } from 'supertest'
import { decodeAuthorization } from '../../../lib/index'
import { consentFormOf } from '../../support/flows/consent-form'
import { deviceCode, deviceSecret, television, toaster } from '../../support/flows/device-stage'
import { outcomeOf } from '../../support/flows/outcome'
import type { Flow } from '../../support/flows/flow'
import { type ServerProcess, startServer } from '../../support/flows/start-server'
import type { RedisCluster } from '../../support/redis-cluster'
import { type Point, startStoppingWays, type StoppingWays } from '../../support/stores/stopping-ways'
import { withRedisCluster } from '../../support/with-redis'

const clients = [television.registration, toaster.registration]
const prefix = `devices:${randomUUID()}:`

interface Process {
  readonly ways: StoppingWays
  server: ServerProcess
}

let cluster: RedisCluster
let client: Cluster
let processes: readonly [Process, Process]

withRedisCluster((started) => {
  cluster = started.cluster
  client = started.client
})

const start = ({ plan }: StoppingWays): Promise<ServerProcess> =>
  // What takes time here is the machine.
  startServer({ store: { ...plan, prefix }, clients, deviceSecret, refreshTokenGrace: 300 })

beforeAll(async () => {
  const open = async (): Promise<Process> => {
    const ways = await startStoppingWays(cluster)
    return { ways, server: await start(ways) }
  }
  processes = [await open(), await open()]
})
afterAll(async () => {
  await Promise.all(processes.map(({ server }) => server.kill()))
  await Promise.all(processes.map(({ ways }) => ways.stop()))
})

/** A device and its owner, who may come to any process. */
class Device {
  readonly owner = `owner ${randomUUID()}`
  deviceCode = ''
  userCode = ''
  /** The page with the question. */
  page: Response | undefined

  constructor(private readonly application = television) {}

  async begin(flow: Flow): Promise<Response> {
    const response = await flow.request(this.application, { scope: 'photos:read' }, '/device_authorization')
    if (response.status !== 200) return response
    this.deviceCode = response.body.device_code
    this.userCode = response.body.user_code
    return response
  }

  async enter(flow: Flow): Promise<Response> {
    this.page = await flow.enterCode({ user_code: this.userCode }, this.owner)
    return this.page
  }

  async decide(flow: Flow, decision: 'approve' | 'deny'): Promise<Response> {
    if (this.page === undefined) throw new Error('The owner has no page.')
    return flow.submit('/device', { ...consentFormOf(this.page, '/device').fields, decision }, this.owner)
  }

  poll(flow: Flow): Promise<Response> {
    return flow.request(this.application, { grant_type: deviceCode, device_code: this.deviceCode })
  }
}

/** The record of a device as the cluster has it now. */
async function recordOf({ deviceCode: handle }: Device) {
  const id = Buffer.from(handle.slice(3), 'base64url').subarray(0, 16).toString('base64url')
  const text = await client.get(`${prefix}authorization:${id}`)
  return text === null || text === '' ? undefined : decodeAuthorization(id, text.slice(22))
}

const flows = () => processes.map(({ server }) => server.flow)
/** What stops, and how it ends if everybody goes on. */
interface Act {
  /** What comes before, at a process that nothing stops. */
  readonly before: (device: Device, flow: Flow) => Promise<void>
  readonly act: (device: Device, flow: Flow) => Promise<Response>
  /** What the device and its owner do when they hear nothing. */
  readonly again: (device: Device, flow: Flow) => Promise<unknown>
  readonly isDenied?: boolean
  readonly points: readonly Point[]
}

const write: readonly [Point, Point] = [
  { command: 'record', before: 'arrival' },
  { command: 'record', before: 'reply' },
]
const readAndWrite: readonly Point[] = [{ command: 'read', before: 'arrival' }, ...write]

// A busy machine makes Redis late, and a client then asks again.
async function settled(ask: () => Promise<Response>): Promise<Response> {
  let response = await ask()
  for (let turn = 0; turn < 20 && response.status === 503; turn++) response = await ask()
  return response
}

function expectSuccess({ status, text }: Response): void {
  if (status !== 200) throw new Error(`${status} ${text}`)
}

const untilBegun: Act['before'] = async (device, flow) => {
  expectSuccess(await settled(() => device.begin(flow)))
}
const untilEntered: Act['before'] = async (device, flow) => {
  await untilBegun(device, flow)
  expectSuccess(await settled(() => device.enter(flow)))
}
const untilApproved: Act['before'] = async (device, flow) => {
  await untilEntered(device, flow)
  expectSuccess(await settled(() => device.decide(flow, 'approve')))
}
const goOn = async (device: Device, flow: Flow): Promise<void> => {
  if (device.deviceCode === '') await device.begin(flow)
  await device.enter(flow)
  // A reload after the decision shows the answer.
  if (device.page?.text.includes('name="decision"') === true) await device.decide(flow, 'approve')
}

const acts: Readonly<Record<string, Act>> = {
  'the request of a device': {
    before: async () => {},
    act: (device, flow) => device.begin(flow),
    again: goOn,
    points: write,
  },
  'the entry of a code': {
    before: untilBegun,
    act: (device, flow) => device.enter(flow),
    again: goOn,
    points: readAndWrite,
  },
  'an approval': {
    before: untilEntered,
    act: (device, flow) => device.decide(flow, 'approve'),
    again: (device, flow) => device.decide(flow, 'approve'),
    points: readAndWrite,
  },
  'a denial': {
    before: untilEntered,
    act: (device, flow) => device.decide(flow, 'deny'),
    again: (device, flow) => device.decide(flow, 'deny'),
    isDenied: true,
    points: readAndWrite,
  },
  'a poll before the decision': {
    before: untilBegun,
    act: (device, flow) => device.poll(flow),
    again: goOn,
    points: readAndWrite,
  },
  'the poll that gets tokens': {
    before: untilApproved,
    act: (device, flow) => device.poll(flow),
    again: async () => {},
    points: readAndWrite,
  },
}

/** How a flow has ended: for its device, in its record, and at the guards. */
async function endOf(device: Device, polls: readonly Response[]) {
  const record = await recordOf(device)
  const [accessToken = '', second] = new Set(polls.map(({ body }) => String(body.access_token)))
  const guarded = await Promise.all(flows().map(async (flow) => (await flow.photos(accessToken)).status))
  return {
    polls: [...new Set(polls.map(outcomeOf))],
    second,
    state: record?.state,
    owner: record?.subject,
    tokens: record !== undefined && 'accessTokens' in record ? record.accessTokens.length : 0,
    guarded,
  }
}

const approved = { polls: ['tokens'], second: undefined, state: 'active', tokens: 1, guarded: [200, 200] }
const denied = {
  polls: ['400 access_denied'],
  second: undefined,
  state: 'requested',
  tokens: 0,
  guarded: [401, 401],
}

test('a process that is killed between any two steps of a device leaves a flow that ends in one right way', async () => {
  for (const [turn, [name, act]] of Object.entries(acts).entries()) {
    const point = act.points[turn % act.points.length] ?? write[0]
    const [doomed, other] = turn % 2 === 0 ? processes : [processes[1], processes[0]]
    const isLateFirst = turn % 4 < 2
    const application = turn % 3 === 0 ? toaster : television
    const device = new Device(application)
    await act.before(device, other.server.flow)
    let isStopped = false
    const stopped = new Promise<void>((resolve) => {
      doomed.ways.stopAt(point, () => {
        isStopped = true
        resolve(doomed.server.kill())
      })
    })
    // A busy machine makes Redis late, and the server then says so before it comes to the point.
    const acting = settled(() => act.act(device, doomed.server.flow)).catch(() => undefined)
    const ended = await Promise.race([stopped, acting])
    expect({ name, point, isStopped, ended: ended?.text }).toEqual({
      name,
      point,
      isStopped: true,
      ended: undefined,
    })
    await doomed.server.kill()
    const late = doomed.ways.takeLate()
    doomed.ways.release()
    const arriveLate = () =>
      Promise.allSettled(late.map(([command = '', ...words]) => client.call(command, ...words)))
    if (isLateFirst) await arriveLate()
    await act.again(device, other.server.flow)
    await device.poll(other.server.flow)
    doomed.server = await start(doomed.ways)
    const outcomes = await Promise.all(flows().map(async (flow) => settled(() => device.poll(flow))))
    if (!isLateFirst) await arriveLate()
    const last = await settled(() => device.poll(doomed.server.flow))
    expect({ name, point, ...(await endOf(device, [...outcomes, last])) }).toEqual({
      name,
      point,
      ...(act.isDenied === true ? denied : approved),
      owner: device.owner,
    })
  }
}, 600_000)
