//! Where a table's new files go (Java `LocationProviders`, `BaseMetastoreTableOperations`).
//!
//! Data files go below `write.data.path` or the table's `data` folder, either in one directory per partition or, with
//! `write.object-storage.enabled`, spread by a hash of their names. Metadata files go below `write.metadata.path` or the
//! table's `metadata` folder.

use uuid::Uuid;

use super::location::strip_trailing_slash;
use crate::error::{Error, Result};
use crate::spec::metadata_file::MetadataCodec;
use crate::spec::snapshot::Properties;
use crate::spec::table_metadata::TableMetadata;
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;
use crate::transform::bucket_hash;

const OBJECT_STORE_ENABLED: &str = "write.object-storage.enabled";
const OBJECT_STORE_PARTITIONED_PATHS: &str = "write.object-storage.partitioned-paths";
const OBJECT_STORE_PATH: &str = "write.object-storage.path";
const FOLDER_STORAGE_PATH: &str = "write.folder-storage.path";
const DATA_PATH: &str = "write.data.path";
const METADATA_PATH: &str = "write.metadata.path";
const METADATA_CODEC: &str = "write.metadata.compression-codec";
const PROVIDER_IMPL: &str = "write.location-provider.impl";

/// Bits of a file name's hash that become directories, as four directories of 4, 4, 4 and 8 bits.
const ENTROPY_BITS: u32 = 20;

/// Chooses the locations of a table's new files.
#[derive(Debug, Clone)]
pub struct LocationProvider {
    layout: DataLayout,
    metadata_folder: String,
    /// As the property says; checked when a metadata file is named.
    metadata_codec: String,
}

#[derive(Debug, Clone)]
enum DataLayout {
    Partitioned {
        folder: String,
    },
    Hashed {
        folder: String,
        /// The table's own name below a folder that tables share.
        context: Option<String>,
        partitions: PartitionedPaths,
    },
    /// The properties ask for what is not done here. Tables stay readable, and changes that write no data work.
    Refused(String),
}

/// Whether partition values are part of hashed locations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartitionedPaths {
    Included,
    Omitted,
}

impl LocationProvider {
    /// The provider of a table's location and properties.
    ///
    /// # Errors
    /// `InvalidInput` when the table has no location.
    pub fn for_table(metadata: &TableMetadata) -> Result<Self> {
        Self::new(&metadata.location, &metadata.properties)
    }

    /// The provider of a table at `location` with these properties.
    ///
    /// # Errors
    /// `InvalidInput` for an empty location.
    pub fn new(location: &str, properties: &Properties) -> Result<Self> {
        if location.is_empty() {
            return Err(Error::invalid("table has no location"));
        }
        let location = strip_trailing_slash(location);
        Ok(LocationProvider {
            layout: data_layout(location, properties),
            metadata_folder: metadata_folder(location, properties),
            metadata_codec: properties
                .get(METADATA_CODEC)
                .cloned()
                .unwrap_or_else(|| "none".to_string()),
        })
    }

    /// The location of a new data or delete file. `partition_path` is that of
    /// [`crate::spec::partition::PartitionSpec::partition_to_path`]; empty when unpartitioned.
    ///
    /// # Errors
    /// `Unsupported` when the table names its own provider class, `InvalidInput` when it has a path property that
    /// Iceberg 1.10 withdrew.
    pub fn new_data_location(&self, partition_path: &str, file_name: &str) -> Result<String> {
        let below = match partition_path {
            "" => file_name.to_string(),
            partition_path => format!("{partition_path}/{file_name}"),
        };
        match &self.layout {
            DataLayout::Partitioned { folder } => Ok(format!("{folder}/{below}")),
            DataLayout::Hashed {
                folder,
                context,
                partitions,
            } => {
                let below = match partitions {
                    PartitionedPaths::Included => below,
                    PartitionedPaths::Omitted => file_name.to_string(),
                };
                let entropy = entropy_dirs(&below);
                Ok(match (context, partitions) {
                    (Some(context), _) => format!("{folder}/{entropy}/{context}/{below}"),
                    (None, PartitionedPaths::Included) => format!("{folder}/{entropy}/{below}"),
                    (None, PartitionedPaths::Omitted) => format!("{folder}/{entropy}-{below}"),
                })
            }
            DataLayout::Refused(why) if why.starts_with(PROVIDER_IMPL) => Err(Error::unsupported(why.clone())),
            DataLayout::Refused(why) => Err(Error::invalid(why.clone())),
        }
    }

    /// The location of a manifest, manifest list, statistics or metadata file under `metadata`, which may have another
    /// location or other properties than the table this provider was made for.
    pub fn metadata_location(&self, metadata: &TableMetadata, file_name: &str) -> String {
        let location = strip_trailing_slash(&metadata.location);
        format!("{}/{file_name}", metadata_folder(location, &metadata.properties))
    }

    /// The location of the table's next metadata file, unique by a UUID: `00001-….metadata.json`.
    ///
    /// # Errors
    /// `InvalidInput` for an unknown `write.metadata.compression-codec`.
    pub fn new_metadata_file_location(&self, version: i32) -> Result<String> {
        let codec = MetadataCodec::from_name(&self.metadata_codec)?;
        let name = metadata_file_name(version, Uuid::new_v4(), codec);
        Ok(format!("{}/{name}", self.metadata_folder))
    }
}

/// `00001-<uuid>.metadata.json`, the names of metadata files of catalogs that keep a pointer.
pub fn metadata_file_name(version: i32, uuid: Uuid, codec: MetadataCodec) -> String {
    format!("{version:05}-{uuid}{}", codec.extension())
}

/// The version in a metadata file's name, `00001-….metadata.json`; `None` for names of another form, such as the
/// hadoop catalog's `v1.metadata.json`.
pub fn metadata_file_version(location: &str) -> Option<i32> {
    let name = location.rsplit('/').next()?;
    let (version, _) = name.split_once('-')?;
    version.parse().ok()
}

fn metadata_folder(location: &str, properties: &Properties) -> String {
    match properties.get(METADATA_PATH) {
        Some(folder) if !folder.is_empty() => strip_trailing_slash(folder).to_string(),
        _ => format!("{location}/metadata"),
    }
}

fn data_layout(location: &str, properties: &Properties) -> DataLayout {
    if let Some(class) = properties.get(PROVIDER_IMPL) {
        return DataLayout::Refused(format!(
            "{PROVIDER_IMPL} names the Java class '{class}', which cannot be loaded here: unset it to write data"
        ));
    }
    let hashed = is_true(properties, OBJECT_STORE_ENABLED).unwrap_or(false);
    let withdrawn: &[&str] = if hashed {
        &[OBJECT_STORE_PATH, FOLDER_STORAGE_PATH]
    } else {
        &[FOLDER_STORAGE_PATH]
    };
    let folder = match properties.get(DATA_PATH) {
        Some(folder) => strip_trailing_slash(folder).to_string(),
        None => {
            if let Some(key) = withdrawn.iter().find(|key| properties.contains_key(**key)) {
                return DataLayout::Refused(format!("table property {key} is withdrawn: use {DATA_PATH} instead"));
            }
            format!("{location}/data")
        }
    };
    if !hashed {
        return DataLayout::Partitioned { folder };
    }
    let partitions = match is_true(properties, OBJECT_STORE_PARTITIONED_PATHS) {
        Some(false) => PartitionedPaths::Omitted,
        _ => PartitionedPaths::Included,
    };
    let context = (!folder.starts_with(location)).then(|| path_context(location));
    DataLayout::Hashed {
        folder,
        context,
        partitions,
    }
}

/// As Java's `Boolean.parseBoolean`: all but `true` is false.
fn is_true(properties: &Properties, key: &str) -> Option<bool> {
    properties.get(key).map(|value| value.eq_ignore_ascii_case("true"))
}

/// The last two names of the table's path, by which files of several tables in one folder are told apart.
fn path_context(location: &str) -> String {
    let path = super::location::path_key(location);
    let mut names = path.rsplit('/').filter(|name| !name.is_empty());
    let name = names.next().unwrap_or_default();
    // Java gives a table at the top of a bucket an empty parent and thus a doubled slash, which is no usable key.
    match names.next() {
        Some(parent) => format!("{parent}/{name}"),
        None => name.to_string(),
    }
}

/// The lowest bits of the name's murmur3 hash as directories: `0101/0110/1001/10110010`.
fn entropy_dirs(name: &str) -> String {
    let hash = bucket_hash(&Value::String(name.into()), &PrimitiveType::String).unwrap_or(0);
    let bits = (hash as u32) & ((1 << ENTROPY_BITS) - 1);
    format!(
        "{:04b}/{:04b}/{:04b}/{:08b}",
        bits >> 16,
        (bits >> 12) & 0xf,
        (bits >> 8) & 0xf,
        bits & 0xff
    )
}

#[cfg(test)]
mod tests;
