import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { application } from '../support/flows/application'
import { nightlyReport } from '../support/flows/clients'
import { Flow } from '../support/flows/flow'
import { tokensOf } from '../support/flows/tokens'
import { waitUntil } from '../support/wait-until'

const { app, failures } = application()
const server = createServer(app)
const isPort = (address: AddressInfo | string | null): address is AddressInfo => typeof address === 'object'

beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
afterAll(() => server.close())

describe('A client that goes away in the middle of its body', () => {
  test.each(['/token', '/authorize'])('to %s breaks nothing', async (path) => {
    const address = server.address()
    const socket = connect(isPort(address) ? address.port : 0, '127.0.0.1')
    const head = [
      `POST ${path} HTTP/1.1`,
      'Host: localhost',
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 100',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\ngrant_type=client`)
    await once(server, 'request')
    await setTimeout(10)
    const before = failures.length
    socket.destroy()
    await waitUntil('the server has noticed', async () => failures.length > before)
    expect(failures.slice(before)).toMatchObject([
      { code: 'invalid_request', reason: 'body_aborted', cause: undefined },
    ])
    const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
    expect(tokensOf(await new Flow(server).request(nightlyReport, grant)).scope).toBe('photos:read')
  })
})
