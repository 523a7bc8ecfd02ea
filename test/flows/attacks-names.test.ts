import { photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, redemption } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { tokensOf } from '../support/flows/tokens'

const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']
const asked = authorizationRequest(photoBook)

test.each(inherited)(
  '%s, which every object has, names no client, grant, response type or scope [input-2]',
  async (name) => {
    const { flow, failures } = setStage()
    const request = async (fields: object) => outcomeOf(await flow.ask({ ...asked, ...fields }, 'alice'))
    expect(await request({ client_id: name })).toBe('page 400 invalid_request')
    expect(await request({ response_type: name })).toBe('redirect unsupported_response_type')
    expect(await request({ scope: name })).toBe('redirect invalid_scope')
    expect(await request({ code_challenge_method: name })).toBe('redirect invalid_request')
    expect(outcomeOf(await flow.request(photoPrint, { grant_type: name }))).toBe('400 unsupported_grant_type')
    const stranger = { registration: { ...photoPrint.registration, client_id: name }, secret: name }
    expect(outcomeOf(await flow.request(stranger, { grant_type: 'refresh_token' }))).toBe(
      '401 invalid_client',
    )
    expect(failures.filter(({ cause }) => cause !== undefined)).toEqual([])
  },
)

test.each(inherited)(
  'a parameter of the name %s changes nothing, alone or with brackets [input-3]',
  async (name) => {
    const { flow } = setStage()
    const before = Object.getOwnPropertyNames(Object.prototype)
    const more = { [name]: 'x', [`${name}[admin]`]: '1', [`scope[${name}]`]: 'reports:write' }
    const code = await flow.approve(photoBook, more)
    const { scope, accessToken } = tokensOf(
      await flow.submit('/token', { ...redemption(photoBook, code), client_id: 'photo-book', ...more }),
    )
    expect(scope).toBe('photos:read photos:print')
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
    expect({}).not.toHaveProperty('admin')
  },
)
