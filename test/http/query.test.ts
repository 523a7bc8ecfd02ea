import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import request from 'supertest'
import { queryOf } from '../../lib/http/request'
import { authorizationRequest } from '../support/rooms/consent-form'
import { hostWith } from '../support/rooms/host'
import { statusOf } from '../support/rooms/status'

const queryIn = (url: string | undefined) => {
  const message = new IncomingMessage(new Socket())
  if (url !== undefined) message.url = url
  return queryOf(message).format()
}

describe('queryOf', () => {
  it.each([
    ['/authorize', ''],
    ['/authorize?', ''],
    ['/authorize?a=1&b=2', 'a=1&b=2'],
    ['/authorize?a=1?b', 'a=1%3Fb'],
    ['/authorize?a[b]=1&a[]=2', 'a%5Bb%5D=1&a%5B%5D=2'],
    ['/authorize?a=%zz&b=1', 'b=1'],
    ['?a=1', 'a=1'],
    ['', ''],
  ])('reads %s', (url, parameters) => {
    expect(queryIn(url)).toBe(parameters)
  })

  it.each(['simple', 'extended'])(
    'does not care for the %s query parser of the host (EPT-4)',
    async (parser) => {
      const { app, failures } = hostWith()
      app.set('query parser', parser)
      const { client_id, ...others } = authorizationRequest
      const query = new URLSearchParams({ ...others, 'client_id[]': client_id, 'scope[x]': 'y' })
      expect(await statusOf(request(app).get(`/authorize?${query.toString()}`))).toBe(400)
      expect(failures).toEqual([expect.objectContaining({ reason: 'parameter_missing' })])
      expect(await statusOf(request(app).get(`/authorize?${query.toString()}&client_id=${client_id}`))).toBe(
        200,
      )
    },
  )
})
