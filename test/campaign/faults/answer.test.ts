import { answerOf } from './answer'
import type { Act, Answer } from './history'

const holder = { owner: 'alice', clientId: 'photo-book', scope: 'photos:read' }
const replyOf = (body: object) => ({ status: 200, headers: {}, text: JSON.stringify(body) })

const guarded = { subject: 'alice', clientId: 'photo-book', scope: ['photos:read'] }
const introspected = { active: true, sub: 'alice', client_id: 'photo-book', scope: 'photos:read' }
const kindOf = (act: Act, body: object): Answer['kind'] => answerOf(act, replyOf(body), holder).kind

test.each<readonly [Act, object]>([
  ['guard', guarded],
  ['introspect', introspected],
])('an accepted token of its owner, client and scope is right: %s', (act, body) => {
  expect(kindOf(act, body)).toBe('accepted')
})

test.each<readonly [Act, object]>([
  ['guard', { ...guarded, subject: 'bob' }],
  ['guard', { ...guarded, clientId: 'photo-print' }],
  ['guard', { ...guarded, scope: ['photos:read', 'photos:print'] }],
  ['introspect', { ...introspected, sub: 'bob' }],
  ['introspect', { ...introspected, client_id: 'photo-print' }],
  ['introspect', { ...introspected, scope: 'photos:read photos:print' }],
])('an accepted token of another owner, client or scope is wrong: %s %j', (act, body) => {
  expect(kindOf(act, body)).toBe('wrong')
})
