import { equal } from 'node:assert/strict'
import { consentsAtMost, type ConsentStore, longestConsent } from '../authorization/consent-store'
import { anyOwner } from './authorization-index-rules'
import { atOnce, checkOf, type ContractRule, contractOf, rulesOf, type UnderTest } from './contract'

export interface ConsentsUnderTest extends UnderTest {
  readonly consents: ConsentStore
}

function actsOf({ consents }: ConsentsUnderTest) {
  const [owner, other] = [anyOwner(), anyOwner()]
  const remember = (text: string, client = 'client', seconds = '60', age = '0', of = owner) =>
    consents.remember(of, client, text, { seconds: Number(seconds), age: Number(age) })
  return {
    find: (client = 'client') => consents.find(owner, client),
    findOther: (client: string) => consents.find(other, client),
    remember,
    rememberOther: (text: string, client?: string, seconds?: string, age?: string) =>
      remember(text, client, seconds, age, other),
    forget: (client?: string) => consents.forget(owner, client),
    list: async () =>
      (await consents.list(owner)).map(({ clientId, consent }) => `${clientId}:${consent}`).toSorted(),
    async rememberAtOnce() {
      await atOnce(50, (number) => remember(`of ${number}`, `${number}`))
      await atOnce(50, async (number) => equal(await consents.find(owner, `${number}`), `of ${number}`))
    },
    async fill() {
      for (let number = 0; number < consentsAtMost; number++)
        await remember('kept', `${number}`, number === 7 ? '60' : '600')
    },
  }
}

const letterByLetter: ContractRule<ConsentsUnderTest> = {
  title: 'a consent comes back letter by letter',
  async run({ consents }) {
    const owner = anyOwner()
    for (const text of ['', ':', '12:34', 'ü \u{1F511} {tag}\n', 'x'.repeat(longestConsent)]) {
      equal(await consents.remember(owner, 'client', text, { seconds: 60, age: 0 }), true)
      equal(await consents.find(owner, 'client'), text)
    }
  },
}

const oddClients = [
  '__proto__',
  'constructor',
  '!',
  'ü {tag} \u{1F511}',
  'https://app.example/a?b=c#d',
  'x'.repeat(256),
]

export const consentStoreRules = [
  ...rulesOf(actsOf, {
    'find resolves to undefined if nothing is remembered': 'find = none',
    'find resolves to the consent of this owner and client, and of no other':
      'remember one a = true; remember two b = true; find a = one; find b = two; find c = none; findOther a = none',
    'remember replaces the consent and its end':
      'remember old client 0.1; remember new client 60; wait 0.2; find = new',
    'a consent is gone after its end, and others stay':
      'remember long long 60; remember short short 0.1; wait 0.2; find short = none; find long = long',
    'forget for a client forgets its consent and no other':
      'remember one a; remember two b; forget a; forget unknown; find a = none; find b = two',
    'forget without a client forgets every consent of this owner alone':
      'rememberOther theirs a; remember one a; remember two b; forget; find a = none; find b = none; findOther a = theirs',
  }),
  ...rulesOf(
    actsOf,
    {
      'list resolves to the consents of this owner whose end has not passed':
        'list = none; rememberOther theirs a; remember 1:one a; remember two *; remember short ! 0.1; wait 0.2; list = a:1:one *:two; forget a; list = *:two; forget; list = none',
    },
    'c b',
  ),
  ...rulesOf(actsOf, {
    'remember refuses a decision whose owner was read before forget':
      'forget client; remember late client 60 30 = false; find = none; forget; remember late other 60 30 = false; find other = none',
    'remember refuses a decision before forget for every client, also after one for another':
      'forget; wait 0.2; forget other; remember late client 60 30 = false',
    'remember takes a decision whose owner was read after forget':
      'forget; wait 0.2; remember new client 60 0.1 = true; find = new',
    'forget leaves its mark also if nothing was remembered, and longer than any consent':
      'remember short client 0.1; forget; wait 0.2; remember late client 60 30 = false',
    'forget for one owner refuses no decision of another': 'forget; rememberOther theirs client 60 30 = true',
    'remember refuses a decision whose owner was read more than an hour ago':
      'remember stale client 60 3601 = false; find = none; remember slow client 60 3500 = true',
    'remember keeps every one of 50 clients that come at once': 'rememberAtOnce',
    [`an owner with ${consentsAtMost} clients loses the consent that ends first`]:
      'fill; remember again 3 600 = true; find 7 = kept; remember more new 600 = true; find 7 = none; find 3 = again; find new = more; find 0 = kept',
  }),
  letterByLetter,
  ...oddClients.flatMap((clientId) =>
    rulesOf(
      actsOf,
      {
        [`a client named ${JSON.stringify(clientId.slice(0, 40))} is a client as any other`]:
          'find * = none; remember theirs * = true; find * = theirs; forget *; find * = none',
      },
      clientId,
    ),
  ),
]

/** For a `ConsentStore`. No two rules use one owner. */
export const consentStoreContract = contractOf(consentStoreRules)

export const checkConsentStore = checkOf(consentStoreRules)
