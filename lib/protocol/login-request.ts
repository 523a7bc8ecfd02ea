/** What the host's login is asked for. */
export interface LoginRequest {
  /**
   * Whether a logged-in owner has to prove again who they are: ask for the credentials, and return the new `authTime`
   * from `resourceOwner`.
   */
  readonly again: boolean
  /** `prompt=select_account`. */
  readonly selectAccount: boolean
  /** What the client would like, the best one first. The login may ignore it. */
  readonly acrValues: readonly string[]
  /** What the client knows, such as an e-mail address. A stranger may have written it. */
  readonly loginHint: string | undefined
  /** What the client proposes, such as `de`. */
  readonly uiLocales: readonly string[]
}

export const plainLogin: LoginRequest = {
  again: false,
  selectAccount: false,
  acrValues: [],
  loginHint: undefined,
  uiLocales: [],
}

export function loginQueryOf({
  again,
  selectAccount,
  acrValues,
  loginHint,
  uiLocales,
}: LoginRequest): Readonly<Record<string, string>> {
  const prompt = [again ? 'login' : [], selectAccount ? 'select_account' : []].flat()
  return {
    ...(prompt.length > 0 && { prompt: prompt.join(' ') }),
    ...(acrValues.length > 0 && { acr_values: acrValues.join(' ') }),
    ...(loginHint !== undefined && { login_hint: loginHint }),
    ...(uiLocales.length > 0 && { ui_locales: uiLocales.join(' ') }),
  }
}
