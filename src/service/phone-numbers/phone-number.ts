/** A phone number of the workspace (2.4; members that may be null and values: `facts.md`, "Phone numbers"). */

export interface WorkspaceUser {
  readonly id: string;
  readonly email: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly role: 'owner' | 'admin' | 'member';
  readonly groupId: string;
}

// 2.4, other values of a restriction: not shown.
type Restriction = 'restricted' | 'unrestricted';
type Regions = { readonly CA: Restriction; readonly Intl: Restriction; readonly US: Restriction };

export interface PhoneNumber {
  readonly id: string;
  readonly groupId: string;
  readonly portRequestId: string | null;
  readonly formattedNumber: string | null;
  readonly forward: string | null;
  readonly name: string;
  readonly number: string;
  /** 2.4, values other than `completed`: not shown. */
  readonly portingStatus: string | null;
  readonly symbol: string | null;
  readonly users: readonly WorkspaceUser[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly restrictions: { readonly calling: Regions; readonly messaging: Regions };
}
