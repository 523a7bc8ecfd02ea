import type { ConsentScope, ConsentView } from '../../lib/index'

/** The view of a consent page of a registered client on the web, with changes. */
export const consentView = (changed: Partial<ConsentView> = {}): ConsentView => ({
  service: {},
  language: { tag: 'en', dir: 'ltr' },
  client: { client_id: 's6BhdRkqt3', client_name: 'Calendar Sync' },
  resourceOwner: { subject: 'u-8842', name: 'Ada Lovelace' },
  switchAccount: undefined,
  scope: [consentScope()],
  question: undefined,
  obstacle: undefined,
  facts: [],
  manageAt: undefined,
  action: '/authorize/decision',
  fields: { handle: 'p_abc' },
  redirectTo: 'https://calendar.example.com/oauth/callback?x=1',
  receiver: 'web',
  ...changed,
})

/** A scope on a consent page, with changes. */
export const consentScope = (changed: Partial<ConsentScope> = {}): ConsentScope => ({
  token: 'calendar.read',
  description: 'See your calendars',
  group: undefined,
  weight: 'read',
  field: undefined,
  allowedBefore: false,
  ...changed,
})
