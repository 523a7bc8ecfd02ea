import { isBcryptHash } from '../protocol/secret-hash'
import { bcryptCost, costOf } from '../secrets/bcrypt'
import { eachClient, entriesWhere, type LintRule } from './rule'

const isCheap = (hash: string) => isBcryptHash(hash) && costOf(hash) < bcryptCost
const manyScopes = 3

/** Secrets of clients, and how much they may have. */
export const clientRules: readonly LintRule[] = [
  {
    id: 'client-refused',
    severity: 'error',
    why: 'The server refuses this registration of the registry, so every request of the client fails.',
    cure: 'Change the registration, or add to the options what it needs.',
    source: 'RFC 6749 2',
    places: ({ refused }) => refused,
  },
  {
    id: 'client-secret-cheap-hash',
    severity: 'warning',
    why: 'A secret that a person chose is soon guessed from a bcrypt digest of so low a cost.',
    cure: 'Rotate it to one of generateClientSecret(), or digest it anew with hashClientSecret().',
    source: 'RFC 6819 5.1.4.1.3',
    places: (subject) =>
      eachClient(subject, ({ client_secret_hashes }) =>
        entriesWhere('client_secret_hashes', client_secret_hashes, isCheap),
      ),
  },
  {
    id: 'client-secret-old',
    severity: 'warning',
    why: 'An old secret still works: its rotation was never finished.',
    cure: "When events.on('oldSecretUsed') is silent: dropOldClientSecrets(), or rotate-secret --finish.",
    source: 'good practice',
    places: (subject) =>
      eachClient(subject, ({ client_secret_hashes }) =>
        client_secret_hashes.length > 1 ? ['client_secret_hashes'] : [],
      ),
  },
  {
    id: 'client-public-secret',
    severity: 'warning',
    why: 'A public client cannot keep a secret: everybody who has the client has it.',
    cure: 'Remove the secret and rely on PKCE, or register the client as confidential.',
    source: 'RFC 8252 8.5',
    places: (subject) =>
      eachClient(subject, ({ client_type, client_secret_hashes }) =>
        client_type === 'public' && client_secret_hashes.length > 0 ? ['client_secret_hashes'] : [],
      ),
  },
  {
    id: 'client-every-scope',
    severity: 'warning',
    why: 'This client may ask for every scope of a server that has several.',
    cure: 'Register what it needs.',
    source: 'RFC 9700 2.3',
    places: (subject) =>
      eachClient(subject, ({ scope }) =>
        subject.settings.scopes.size >= manyScopes && new Set(scope).size === subject.settings.scopes.size
          ? ['scope']
          : [],
      ),
  },
]
