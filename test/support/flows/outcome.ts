import type { Response } from 'supertest'
import { errorPageOf } from './error-page'
import { redirectionOf } from './redirection'
import { expectUncachedJson, refusalOf, tokensOf } from './tokens'

/** What an endpoint made of a request, in a word or three; the form of the answer is checked on the way. */
export function outcomeOf(response: Response): string {
  if (response.status === 303 && /^\/login\b/.test(response.get('Location') ?? '')) return 'login'
  if (response.status === 303) return `redirect ${redirectionOf(response).parameters['error'] ?? 'code'}`
  if (response.status !== 200 && response.text.includes('name="user_code"')) return `form ${response.status}`
  if (response.type !== 'application/json')
    return response.status === 200 ? 'question' : `page ${errorPageOf(response)}`
  if (response.status !== 200) return refusalOf(response)
  expectUncachedJson(response)
  if (response.text === '{}') return 'done'
  if ('device_code' in response.body) return 'a code'
  if ('active' in response.body) return response.body.active === true ? 'active' : 'inactive'
  tokensOf(response)
  return 'tokens'
}
