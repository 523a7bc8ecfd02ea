import type { Html } from '../html'

/**
 * Every text of the suite's pages in one language. A text around a name, a host or a link is a function from
 * markup to markup, made with the tag `html`, so the name stays apart from its sentence.
 */
export interface PageTexts {
  readonly common: CommonTexts
  readonly consent: ConsentTexts
  readonly error: ErrorTexts
  readonly logout: LogoutTexts
  readonly connected: ConnectedTexts
  readonly device: DeviceTexts
  readonly answered: AnsweredTexts
  readonly continue: ContinueTexts
  readonly insecureRedirect: InsecureRedirectTexts
  readonly unverified: UnverifiedTexts
}

/** A text with one name or link in it. */
type TextAround = (inner: Html) => Html

interface CommonTexts {
  /** The label of the owner's name. */
  readonly signedInAs: string
  readonly returnsTo: string
  /** Names a destination that is an app, by its URI's scheme. */
  readonly appOnDevice: (scheme: string) => string
  /** Says that the client got nothing. */
  readonly noAccess: string
}

interface ConsentTexts {
  /** Around the client's name. */
  readonly title: TextAround
  /** Below the client's name. */
  readonly request: string
  /** As `request`, around the service's name. */
  readonly requestAt: TextAround
  /** The link to the login, for another account. */
  readonly notYou: string
  /** Marks a client that the host has not registered. */
  readonly unverifiedMark: string
  /** Below the client's name, around the host that describes it. */
  readonly origin: TextAround
  readonly notRegistered: string
  readonly selfRegistered: string
  /** The name of an unregistered client proves nothing. */
  readonly ownClaim: string
  /** Around the host that describes the client. */
  readonly certain: TextAround
  /** Warns of a destination on this device. */
  readonly deviceTitle: string
  readonly device: string
  /** Warns of a destination with an app's scheme. */
  readonly appTitle: string
  readonly app: string
  /** Above the permissions. */
  readonly permissions: string
  readonly noPermission: string
  /** Above the dangerous ones. */
  readonly dangerous: string
  /** Above those that the owner gave the client before. */
  readonly allowedBefore: string
  readonly dangerMark: string
  /** Marks a permission to change something. */
  readonly writeMark: string
  readonly optional: string
  /** The empty answer of a question with many answers. */
  readonly choose: string
  /** Above the reason why the owner can only cancel. */
  readonly obstacle: string
  /** The reason, if a question has no answers. */
  readonly noAnswer: string
  /** Around the link to the page of connected applications. */
  readonly manage: TextAround
  /** The text of this link. */
  readonly manageLink: string
  /** The labels of the suite's facts. */
  readonly facts: { readonly resource: string; readonly claims: string }
  readonly policy: string
  readonly terms: string
  readonly cancel: string
  readonly allow: string
}

/** Why a request ended on the page of errors, as far as a person needs to know. */
export type ErrorKind =
  | 'requestOver'
  | 'anotherAccount'
  | 'notSignedIn'
  | 'loginLost'
  | 'appFault'
  | 'appUnknown'
  | 'appUnreachable'
  | 'tooMany'
  | 'tooManyApps'
  | 'unavailable'
  | 'otherSite'
  | 'incompleteForm'
  | 'unprotected'
  | 'other'

/** What happened, and what the person can do now. */
export interface Explanation {
  readonly happened: string
  readonly advice: string
}

interface ErrorTexts {
  readonly refusedTitle: string
  readonly troubleTitle: string
  readonly nothingShared: string
  /** Before the code and the id of the request. */
  readonly reference: string
  /** Before the `error_description`, which is English. */
  readonly details: string
  /** The link to the client's home page, around its name. */
  readonly backTo: TextAround
  readonly explanations: Readonly<Record<ErrorKind, Explanation>>
}

interface LogoutTexts {
  readonly title: string
  /** Around the owner's name. */
  readonly loggedInAs: TextAround
  /** Around the name of the client that asks. */
  readonly asks: TextAround
  readonly stay: string
  readonly logOut: string
  readonly doneTitle: string
  readonly done: string
  readonly stayedTitle: string
  readonly stayed: string
  /** The link to the client, around its name. */
  readonly backTo: TextAround
}

interface ConnectedTexts {
  readonly title: string
  readonly intro: string
  /** The list is empty. */
  readonly none: string
  /** Above one client's permissions. */
  readonly permissions: string
  /** Around a date. */
  readonly since: TextAround
  /** Around the day of the last token. */
  readonly lastIssued: TextAround
  readonly remove: string
  /** The button for those who hear the page, around the client's name. */
  readonly removeClient: TextAround
  /** Around the client's name. */
  readonly removeTitle: TextAround
  readonly removeConsequence: string
  readonly keep: string
  /** Around the client's name. */
  readonly removed: TextAround
  readonly soon: string
  /** The list may lack older applications. */
  readonly incomplete: string
  readonly previous: string
  readonly next: string
}

interface DeviceTexts {
  readonly title: string
  /** Above the field for the code. */
  readonly intro: string
  /** As `intro`, if a link has brought the code. */
  readonly fromLink: string
  readonly code: string
  /** The button of the code's form. */
  readonly next: string
  /** The code is good for nothing. */
  readonly unknown: string
  readonly tooMany: string
  /** Warns of codes and links that somebody has sent. */
  readonly warningTitle: string
  readonly warning: string
  /** Below the client's name. */
  readonly request: string
  readonly requestedFrom: string
  readonly requestedAt: string
  readonly approvedTitle: string
  /** Around the client's name. */
  readonly approved: TextAround
  readonly deniedTitle: string
  readonly denied: string
}

/** The page about a response that the client already has. */
interface AnsweredTexts {
  readonly title: string
  /** Around the client's name. */
  readonly done: TextAround
  readonly lost: string
  /** The link to the client, around its host. */
  readonly goTo: TextAround
}

interface ContinueTexts {
  readonly approvedTitle: string
  readonly refusedTitle: string
  /** Around the destination. */
  readonly oneStep: TextAround
  readonly continue: string
  readonly linkIsYours: string
}

/** The page before a redirect over plain HTTP. */
interface InsecureRedirectTexts {
  readonly title: string
  readonly unprotected: string
  /** As `unprotected`, if the response gives access. */
  readonly unprotectedAccess: string
  readonly nothingSent: string
  readonly stopAccess: string
  readonly stop: string
  readonly continue: string
}

/** The page before an error's redirect to an unregistered client. */
interface UnverifiedTexts {
  readonly notChecked: string
  readonly trouble: string
  readonly tryAgain: string
  readonly careful: string
  readonly goBack: string
}
