/** `error` and `warning` make the exit code of `mortar doctor` 1; `note` explains a setting that may stay as it is. */
export type DoctorLevel = 'error' | 'warning' | 'note'

/** One finding of `mortar doctor`, from the command itself or from the slot `doctor` of a brick. */
export interface DoctorFinding {
  readonly level: DoctorLevel
  /** A stable code in capitals, such as `MORTAR_DOCTOR_SECRET`; a brick of another package starts it with its own name. */
  readonly code: string
  /** Description of the finding, as one or more sentences. Never a secret. */
  readonly found: string
  /** Remedy, as a sentence. */
  readonly remedy: string
  /** Explanation: a page and its anchor, or a URL. */
  readonly page: string
}
