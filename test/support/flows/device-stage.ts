import type { Response } from 'supertest'
import { type AuthorizationServerOptions, memoryStore, type Plugin } from '../../../lib/index'
import { deviceAuthorization, type DeviceAuthorizationOptions } from '../../../lib/paths/devices'
import { bent, photoBook, photoPrint } from './clients'
import { Clock } from './clock'
import { consentFormOf } from './consent-form'
import type { Headers } from './flow'
import { setStage } from '../flows/stage'
import { withPlugins } from '../with-plug-ins'

export const deviceCode = 'urn:ietf:params:oauth:grant-type:device_code'

export const television = bent(photoBook, {
  client_id: 'television',
  client_name: 'Television',
  redirect_uris: [],
  response_types: [],
  grant_types: [deviceCode, 'refresh_token'],
})
export const toaster = bent(television, { client_id: 'toaster', grant_types: [deviceCode] })
const clients = [television, toaster, photoPrint].map(({ registration }) => registration)

/** What the option `secret` has where a store of several processes needs it. */
export const deviceSecret = 'a secret that the processes of this test share'

/** A device that shows a code, and its owner at a browser. */
export async function deviceStage(
  device = television,
  others: readonly Plugin[] = [],
  options: Partial<AuthorizationServerOptions> = {},
  own: DeviceAuthorizationOptions = {},
) {
  const clock = new Clock()
  const counters = memoryStore({ clock: clock.read })
  const { flow, oauth, app, store, failures } = setStage({
    clients,
    counters,
    clock: clock.read,
    ...options,
    plugins: withPlugins([deviceAuthorization({ secret: deviceSecret, ...own }), ...others], options.plugins),
  })
  const [scope] = device.registration.scope.split(' ')
  const begin = (fields = {}, client = device) =>
    flow.request(client, { scope, ...fields }, '/device_authorization')
  const { body } = await begin()
  const poll = (client = device, bend = {}) =>
    flow.request(client, { grant_type: deviceCode, device_code: body.device_code, ...bend })
  /** A poll after the interval. */
  const pollLater = (...given: Parameters<typeof poll>) => {
    clock.advance(5)
    return poll(...given)
  }
  const enter = (user_code: string = body.user_code, owner = 'alice', headers: Headers = {}) =>
    flow.enterCode({ user_code }, owner, headers)
  /** The form of a page, with a button pressed. */
  const decide = (page: Response, decision: string, owner = 'alice', bend = {}, headers: Headers = {}) =>
    flow.submit('/device', { ...consentFormOf(page, '/device').fields, decision, ...bend }, owner, headers)
  return { flow, oauth, app, store, failures, clock, body, begin, poll, pollLater, enter, decide }
}
