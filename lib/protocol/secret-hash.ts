// What the store of clients keeps of a secret, told apart by format.
const ofChosenSecret = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/
const ofGeneratedSecret = /^sha256:[A-Za-z0-9_-]{43}$/

/** Whether the text is a bcrypt digest, made for secrets that a person may have chosen. */
export function isBcryptHash(text: string): boolean {
  return ofChosenSecret.test(text)
}

/** Whether the text is a digest of either kind. */
export function isSecretHash(text: string): boolean {
  return ofGeneratedSecret.test(text) || ofChosenSecret.test(text)
}
