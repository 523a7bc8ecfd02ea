// What the store of clients keeps of a secret, told apart by format.
const ofChosenSecret = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/
const ofGeneratedSecret = /^sha256:[A-Za-z0-9_-]{43}$/

/** How many secrets of a client live at most (REG-13): the current one, and the one before it until each part has learnt it. */
export const liveSecrets = 2

/** Whether the text is a bcrypt digest, made for secrets that a person may have chosen. */
export function isBcryptHash(text: string): boolean {
  return ofChosenSecret.test(text)
}

/** Whether the text is a digest of either kind. */
export function isSecretHash(text: string): boolean {
  return ofGeneratedSecret.test(text) || ofChosenSecret.test(text)
}
